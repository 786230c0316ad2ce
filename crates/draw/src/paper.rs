//! The common parts of SVG pictures: escaping, colours for light and dark pages, and places for
//! text.

use std::fmt::Write as _;

/// The colours of kinds and series, on light and on dark paper. Red, green and amber are not among
/// them: those mean violated, holding and waiting.
const COLOURS: [(&str, &str); 14] = [
    ("#0b62c4", "#6cb6ff"),
    ("#c2540a", "#ffa657"),
    ("#7a3fc4", "#c8a2ff"),
    ("#0a7a72", "#4fd1c5"),
    ("#b8246c", "#ff8ac0"),
    ("#76580e", "#d9b45b"),
    ("#46586e", "#a8b8cc"),
    ("#587510", "#b5d55a"),
    ("#2b2f9e", "#a3b0ff"),
    ("#3a3a3a", "#d6d6d6"),
    ("#04708f", "#63d3f0"),
    ("#8b5a9c", "#ddbce9"),
    ("#9b6a4c", "#dfb79c"),
    ("#5d8a75", "#a9d9c2"),
];

/// Rules that hold on light and dark paper alike.
const SHAPES: &str = "\
text{font:12px ui-sans-serif,system-ui,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif}
.title{font-size:16px;font-weight:600}.small{font-size:11px}.label{font-weight:600}
.halo{paint-order:stroke;stroke-width:5.5px;stroke-linejoin:round}
.middle{text-anchor:middle}.end{text-anchor:end}
line,path,polyline{fill:none}.hit{stroke:transparent;stroke-width:10}
.arrow{stroke-width:1.6}.stub{stroke-width:1.4;stroke-dasharray:3 3}
.lane{stroke-width:1.5}.paused{stroke-dasharray:1.5 4}.down{stroke-dasharray:6 5;opacity:.55}
.holding{fill-opacity:.28;stroke-width:1.2}.waiting{fill-opacity:.3}
.cut{stroke-dasharray:6 4;stroke-width:1.2}.cut-band{fill-opacity:.1}
.side0,.side1,.side2{fill-opacity:.13}.tear{stroke-dasharray:5 4;stroke-width:1.4}
.stuck{stroke-width:3}.has{font-weight:600}
.grid{stroke-width:1;opacity:.3}.band{fill-opacity:.16}.area{fill-opacity:.75}
.wrong{font-weight:600}.ring{fill:none;stroke-width:2}.lead{stroke-dasharray:2 3;stroke-width:1.2}
g.message:hover .arrow,g.message:hover .stub{stroke-width:3.2}
";

/// Text as it may stand in XML, in content and in attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push('\n'),
            // XML cannot express most control characters.
            _ if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// The class that gives a stroke (`s0`) the colour of a kind or series.
pub(crate) fn stroke(index: usize) -> String {
    format!("s{}", index % COLOURS.len())
}

/// The class that gives a filling (`f0`) the colour of a kind or series.
pub(crate) fn fill(index: usize) -> String {
    format!("f{}", index % COLOURS.len())
}

/// The colours of all parts other than kinds and series.
struct Ink {
    paper: &'static str,
    text: &'static str,
    faint: &'static str,
    line: &'static str,
    wrong: &'static str,
    holding: &'static str,
    waiting: &'static str,
}

const LIGHT: Ink = Ink {
    paper: "#ffffff",
    text: "#1b2530",
    faint: "#5b6875",
    line: "#8893a0",
    wrong: "#c8102e",
    holding: "#1a9a4a",
    waiting: "#e0a100",
};
const DARK: Ink = Ink {
    paper: "#10161d",
    text: "#e6edf3",
    faint: "#9aa7b4",
    line: "#6b7885",
    wrong: "#ff6b7a",
    holding: "#3fce75",
    waiting: "#f2c14e",
};

/// The rules for this paper, with the colours of those kinds that the picture has.
fn colours(
    ink: &Ink,
    of_kind: impl Fn(&(&'static str, &'static str)) -> &'static str,
    body: &str,
) -> String {
    let Ink { paper, text, faint, line, wrong, holding, waiting } = ink;
    let mut css = format!(
        ".paper{{fill:{paper}}}text{{fill:{text}}}.halo{{stroke:{paper}}}.faint{{fill:{faint}}}\
         .lane,.axis{{stroke:{line}}}.dot{{fill:{text}}}.hollow{{fill:{paper};stroke:{text}}}\
         .grid{{stroke:{line}}}.ring,.lead,.lost,.tear,.stuck{{stroke:{wrong}}}.wrong{{fill:{wrong}}}\
         .holding{{fill:{holding};stroke:{holding}}}.told{{fill:{holding}}}\
         .waiting{{fill:{waiting}}}.cut{{stroke:{waiting}}}.cut-band,.side0{{fill:{waiting}}}\
         .side1{{fill:{line}}}.side2{{fill:{text}}}.has{{fill:{holding}}}\n"
    );
    let is_used = |index: &usize| [stroke(*index), fill(*index)].iter().any(|c| body.contains(c));
    for index in (0..COLOURS.len()).filter(is_used) {
        let colour = of_kind(&COLOURS[index]);
        let _ = write!(css, ".s{index}{{stroke:{colour}}}.f{index}{{fill:{colour}}}");
    }
    css
}

/// A whole file. Its title and description are also text, for readers who cannot see the picture;
/// its colours follow the reader's choice of light or dark.
pub(crate) fn file(title: &str, description: &str, size: (f64, f64), body: &str) -> String {
    let (width, height) = (size.0.ceil(), size.1.ceil());
    let (light, dark) = (colours(&LIGHT, |both| both.0, body), colours(&DARK, |both| both.1, body));
    let (title, description) = (escaped(title), escaped(description));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title desc\">\n\
         <title id=\"title\">{title}</title>\n<desc id=\"desc\">{description}</desc>\n\
         <style>\n{SHAPES}{light}\n@media (prefers-color-scheme:dark){{\n{dark}\n}}\n</style>\n\
         <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n"
    )
}

/// A text element.
pub(crate) fn text(class: &str, x: f64, y: f64, words: &str) -> String {
    format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n", escaped(words))
}

/// A straight line.
pub(crate) fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> String {
    let ((x1, y1), (x2, y2)) = (from, to);
    format!(
        "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>\n"
    )
}

/// The approximate width of text in the usual size.
pub(crate) fn text_width(words: &str) -> f64 {
    words.chars().count() as f64 * 6.9
}

/// A rectangle that is already occupied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    /// The area of text with its middle at `x` and its baseline at `y`.
    pub(crate) fn of_text(words: &str, x: f64, y: f64) -> Self {
        let half = text_width(words) / 2.0 + 1.0;
        Area { left: x - half, top: y - 11.0, right: x + half, bottom: y + 3.0 }
    }

    pub(crate) fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether a straight line passes through the area.
    pub(crate) fn is_crossed(&self, from: (f64, f64), to: (f64, f64)) -> bool {
        // The part of the line, from 0 to 1, that lies between the sides; then between the others.
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        let sides = [(from.0, to.0, self.left, self.right), (from.1, to.1, self.top, self.bottom)];
        for (start, end, low, high) in sides {
            let length = end - start;
            if length.abs() < 1e-9 {
                if start < low || start > high {
                    return false;
                }
                continue;
            }
            let (a, b) = ((low - start) / length, (high - start) / length);
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        enter <= leave
    }
}

/// Numbers at round distances that cover a range: about `wanted` of them.
pub(crate) fn nice_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return vec![low];
    }
    let rough = span / wanted.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&step| step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|tick| tick as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside_the_range() {
        assert_eq!(nice_ticks(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(nice_ticks(3.0, 14.0, 4), [5.0, 10.0]);
        assert_eq!(nice_ticks(0.0, 0.35, 4), [0.0, 0.1, 0.2, 0.30000000000000004]);
        assert_eq!(nice_ticks(7.0, 7.0, 4), [7.0]);
    }

    #[test]
    fn a_line_crosses_an_area_only_where_it_passes_through_it() {
        let area = Area { left: 10.0, top: 10.0, right: 20.0, bottom: 20.0 };
        assert!(area.is_crossed((0.0, 0.0), (30.0, 30.0)));
        assert!(area.is_crossed((15.0, 0.0), (15.0, 40.0)));
        assert!(!area.is_crossed((0.0, 0.0), (9.0, 9.0)));
        assert!(!area.is_crossed((0.0, 25.0), (40.0, 25.0)));
        assert!(!area.is_crossed((0.0, 15.0), (15.0, 30.5)));
    }

    #[test]
    fn nothing_in_a_text_can_end_the_text() {
        assert_eq!(
            escaped("<a b=\"c\"> & 'd'\u{0}"),
            "&lt;a b=&quot;c&quot;&gt; &amp; &#39;d&#39; "
        );
    }
}
