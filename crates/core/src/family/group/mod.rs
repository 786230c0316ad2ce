//! Group services: membership views, and the members' multicasts, in one order.
//!
//! The contract is that of [`crate::group`], extended virtual synchrony. Every side of a partition
//! has a view of its own, and all sides go on.

mod monitor;

pub use monitor::Historian;

use super::multicast::{Payload, body};
use super::{Application, Family, Mark, Moment, Pace, Property};
use crate::card::{Parameter, Rounds};
use crate::group::{Ask, Event, Level};
use crate::process::ProcessId;
use crate::protocol::Wire;
use crate::reductions::Fleeting;
use crate::setup::Setup;
use std::sync::Arc;

/// The family of group services.
#[derive(Clone, Copy, Debug)]
pub struct GroupService;

/// A request of the application.
pub type Input = Ask<Payload>;
/// An output to the application.
pub type Output = Event<Payload>;

impl Wire for Payload {
    fn kind(&self) -> &'static str {
        "Payload"
    }
}

impl Fleeting for Payload {}

/// One order of all messages.
pub const G1: &str = "G1";
/// Members that go to the next view together have delivered the same messages.
pub const G2: &str = "G2";
/// A sender delivers its own message.
pub const G3: &str = "G3";
/// A safe message is delivered in a regular configuration only if all have it.
pub const G4: &str = "G4";
/// Views state truly why a member left.
pub const G5: &str = "G5";
/// Views are well formed: see the monitor.
pub const VIEWS: &str = "views";
/// Every delivered message was multicast, and is delivered once, in one view.
pub const INTEGRITY: &str = "integrity";
/// In the end the view holds exactly the members that can be reached.
pub const SETTLES: &str = "settles";

/// The parameter for the delivery level of the application's messages.
pub const LEVEL: Parameter = Parameter {
    name: "level",
    meaning: "how sure a message must be before it is delivered: agreed (default), safe, or mixed",
};

/// The parameter for the engine that serves the group.
pub const ENGINE: Parameter = Parameter {
    name: "engine",
    meaning: "embedded (default), or abstract: p0 stands for the whole service, and does all that \
              the contract allows",
};

impl Family for GroupService {
    const NAME: &'static str = "group service";
    const OPERATION: &'static str = "multicast";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: G1,
            name: "total order",
            statement: "what members deliver in a regular configuration is the beginning of one \
                        sequence; on the way to the next view there may be gaps, but the order \
                        is the same, except that a message of one of those who go that way may \
                        come later",
        },
        Property {
            id: G2,
            name: "virtual synchrony",
            statement: "members that go together from one view to the next have delivered the \
                        same messages in the first, in the same order, and the same in its \
                        transitional configuration",
        },
        Property {
            id: G3,
            name: "self-delivery",
            statement: "whoever multicasts a message delivers it, unless it crashes or leaves",
        },
        Property {
            id: G4,
            name: "safe delivery",
            statement: "if a safe message is delivered in a regular configuration, every member of \
                        the view delivers it there or in its transitional configuration, unless it \
                        crashes or leaves",
        },
        Property {
            id: G5,
            name: "true causes",
            statement: "whoever is said to be dead is dead or asked to leave, whoever is said to \
                        join is new, whoever joined or left is named, and who came with whom is \
                        true and the same for all",
        },
        Property {
            id: VIEWS,
            name: "views",
            statement: "a member is in every view that it is told, and so are only those who have \
                        lived; its views have growing epochs, and each is over before the next; \
                        views of the same name have the same members",
        },
        Property {
            id: INTEGRITY,
            name: "integrity",
            statement: "a message is delivered at most once by each member, in one view by all, \
                        and only as its sender multicast it",
        },
        Property {
            id: SETTLES,
            name: "settling",
            statement: "if nothing goes wrong any more, all who can reach each other get one view, as \
                        soon as the card says",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[INTEGRITY, VIEWS];
    const LIVENESS: &'static [&'static str] = &[G3, G4, SETTLES];
    const LASTING: &'static [&'static str] = &[SETTLES];
    const RUN_FOR_MS: u64 = 1_000;

    type Input = Input;
    type Output = Output;
    type Application = Chatter;
    type Monitor = Historian;

    fn pace(_input: &Input) -> Pace {
        Pace::Think
    }

    fn is_order(input: &Input) -> bool {
        *input == Ask::Leave
    }

    fn mark_of_input(input: &Input) -> Mark {
        match input {
            Ask::Multicast { .. } => Mark::Ask,
            Ask::Leave => Mark::None,
        }
    }

    fn mark_of_output(at: ProcessId, output: &Output) -> Mark {
        match output {
            Event::Deliver(delivery) if delivery.sender.node == at => Mark::Done,
            Event::Deliver(_) => Mark::Reached,
            Event::Refused(_) => Mark::End,
            Event::View(_) | Event::Transitional(_) | Event::Room | Event::Lost => Mark::None,
        }
    }

    fn request(input: &Input) -> Option<u64> {
        match input {
            Ask::Multicast { message, .. } => Some(message.number.into()),
            Ask::Leave => None,
        }
    }

    fn request_of(output: &Output) -> Option<(ProcessId, u64)> {
        match output {
            Event::Deliver(delivery) => {
                Some((delivery.sender.node, delivery.message.number.into()))
            }
            _ => None,
        }
    }

    fn input_in_words(input: &Input) -> String {
        match input {
            Ask::Multicast { level: Level::Agreed, message } => {
                format!("multicasts {}", message.number)
            }
            Ask::Multicast { level: Level::Safe, message } => {
                format!("multicasts {} safely", message.number)
            }
            Ask::Leave => "leaves".to_owned(),
        }
    }

    fn output_in_words(output: &Output) -> String {
        match output {
            Event::View(view) => {
                let members: Vec<_> = view.members.iter().map(ToString::to_string).collect();
                format!("is in {}: {}", view.id, members.join(" "))
            }
            Event::Transitional(with) => {
                let with: Vec<_> = with.iter().map(|p| p.to_string()).collect();
                format!("goes on with {}", with.join(" "))
            }
            Event::Deliver(delivery) => {
                let (number, sender) = (delivery.message.number, delivery.sender);
                format!("delivers {number} of {sender} ({})", delivery.sent_in)
            }
            Event::Refused(message) => format!("has no room for {}", message.number),
            Event::Room => "has room again".to_owned(),
            Event::Lost => "is out of the group".to_owned(),
        }
    }

    fn input_from_words(words: &[&str]) -> Option<Input> {
        let (number, level) = match words {
            ["leaves"] => return Some(Ask::Leave),
            ["multicasts", number] => (number, Level::Agreed),
            ["multicasts", number, "safely"] => (number, Level::Safe),
            _ => return None,
        };
        let message = Payload::numbered(number.parse().ok()?);
        Some(Ask::Multicast { level, message })
    }

    const PHRASES: &'static [&'static str] = &["multicasts 1", "multicasts 1 safely", "leaves"];
}

/// An application that multicasts in rounds, as soon as it is in a view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chatter {
    last: u32,
    left: Rounds,
    levels: &'static [Level],
    /// Whether it is in a view, and no multicast was refused since there was room.
    may_speak: bool,
    body: Option<Arc<[u8]>>,
}

impl Application for Chatter {
    type Family = GroupService;

    fn new(_me: ProcessId, setup: &Setup, rounds: Rounds) -> Self {
        let levels: &'static [Level] = match setup.text(LEVEL.name) {
            Some("safe") => &[Level::Safe],
            Some("mixed") => &[Level::Agreed, Level::Safe],
            _ => &[Level::Agreed],
        };
        let body = body(setup).expect("the algorithm has accepted the size");
        Chatter { last: 0, left: rounds, levels, may_speak: false, body }
    }

    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        if self.may_speak && self.left.are_left() {
            let message = Payload { number: self.last + 1, body: self.body.clone() };
            let ask = |level: &Level| Ask::Multicast { level: *level, message: message.clone() };
            self.levels.iter().map(ask).for_each(offer);
        }
    }

    fn on_input(&mut self, input: &Input) {
        match input {
            Ask::Multicast { message, .. } => {
                self.left.use_one();
                self.last = message.number;
            }
            Ask::Leave => self.left = Rounds::Times(0),
        }
    }

    fn on_output(&mut self, output: &Output, _moment: Moment<'_>) -> Option<Input> {
        match output {
            Event::View(_) | Event::Room => self.may_speak = true,
            Event::Refused(_) | Event::Lost => self.may_speak = false,
            Event::Transitional(_) | Event::Deliver(_) => {}
        }
        None
    }

    /// The numbers survive a crash: a message after a restart is another one.
    fn on_crash(&mut self) {
        self.may_speak = false;
    }
}
