//! The name of an enum's variant, by serde, without formatting the value.

use serde::ser::{Error as _, Impossible, Serialize, Serializer};
use std::fmt;

/// The name of the variant or struct of `value`.
pub(crate) fn variant_name<T: Serialize + ?Sized>(value: &T) -> &'static str {
    match value.serialize(Namer) {
        Err(Name(name)) => name,
        Ok(never) => match never {},
    }
}

enum Nothing {}

/// The answer leaves as serde's error, so that serialization stops at the name.
#[derive(Debug)]
struct Name(&'static str);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Name {}

impl serde::ser::Error for Name {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Name("message")
    }
}

struct Namer;

/// Values without a name of their own are called by their shape.
macro_rules! nameless {
    ($($method:ident($type:ty) $name:literal),* $(,)?) => {
        $(fn $method(self, _: $type) -> Result<Nothing, Name> { Err(Name($name)) })*
    };
}

impl Serializer for Namer {
    type Ok = Nothing;
    type Error = Name;
    type SerializeSeq = Impossible<Nothing, Name>;
    type SerializeTuple = Impossible<Nothing, Name>;
    type SerializeTupleStruct = Impossible<Nothing, Name>;
    type SerializeTupleVariant = Impossible<Nothing, Name>;
    type SerializeMap = Impossible<Nothing, Name>;
    type SerializeStruct = Impossible<Nothing, Name>;
    type SerializeStructVariant = Impossible<Nothing, Name>;

    nameless! {
        serialize_bool(bool) "bool", serialize_i8(i8) "number", serialize_i16(i16) "number",
        serialize_i32(i32) "number", serialize_i64(i64) "number", serialize_u8(u8) "number",
        serialize_u16(u16) "number", serialize_u32(u32) "number", serialize_u64(u64) "number",
        serialize_f32(f32) "number", serialize_f64(f64) "number", serialize_char(char) "char",
        serialize_str(&str) "text", serialize_bytes(&[u8]) "bytes",
    }

    fn serialize_none(self) -> Result<Nothing, Name> {
        Err(Name("none"))
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Nothing, Name> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Nothing, Name> {
        Err(Name("unit"))
    }
    fn serialize_unit_struct(self, name: &'static str) -> Result<Nothing, Name> {
        Err(Name(name))
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Nothing, Name> {
        Err(Name(variant))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: &T,
    ) -> Result<Nothing, Name> {
        Err(Name(name))
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: &T,
    ) -> Result<Nothing, Name> {
        Err(Name(variant))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Name> {
        Err(Name("list"))
    }
    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Name> {
        Err(Name("tuple"))
    }
    fn serialize_tuple_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Name> {
        Err(Name(name))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Name> {
        Err(Name(variant))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Name> {
        Err(Name("map"))
    }
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Self::SerializeStruct, Name> {
        Err(Name(name))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Name> {
        Err(Name(variant))
    }
    fn collect_str<T: fmt::Display + ?Sized>(self, _: &T) -> Result<Nothing, Name> {
        Err(Name::custom(""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    #[derive(Serialize)]
    enum Message {
        Request(u64),
        Release,
        Vote { of: u32 },
        Pair(u8, u8),
    }

    #[derive(Serialize)]
    struct Token {
        granted: Vec<u64>,
    }

    #[test]
    fn the_kind_of_a_message_is_the_name_of_its_variant() {
        let messages =
            [Message::Request(1), Message::Release, Message::Vote { of: 2 }, Message::Pair(0, 1)];
        assert_eq!(messages.map(|m| variant_name(&m)), ["Request", "Release", "Vote", "Pair"]);
        assert_eq!(variant_name(&Token { granted: vec![] }), "Token");
    }
}
