//! What a service states about itself so that its views can be explored one at a time.

use super::{Member, Service, View, ViewId};
use crate::reductions::Fleeting;

/// A service that explorers follow from view to view.
///
/// The explorer keeps a member's state between two views and gives it to the member's next view.
/// Two such states that differ only in names are one state; so the service must let the explorer
/// rename the last view and its members. The service may compare these names, and ask whether a
/// life is a node's first one. It must not use them in any other way, or renaming changes what it
/// does.
///
/// The explorer orders the multicasts of a view and delivers them, and nothing else: the service
/// must need no commands, no timers, and no safe delivery.
pub trait ViewByView: Service<Message: Fleeting> {
    /// Renames the last view and the lives of its members.
    fn rename(&mut self, view: ViewId, life: &dyn Fn(Member) -> Member);

    /// This member has left its view together with the members of `alone`, and has delivered all
    /// that it delivers before its next view. Whichever that is, they enter it together; `alone` is
    /// the one in which they meet nobody else. The service does now what it will do then because of
    /// those who did not come along, and forgets them.
    fn leave_behind(&mut self, alone: &View);

    /// What this member may use now and no other member may: a bit for each thing.
    fn holds(&self) -> u64;

    /// What is its own, whether it may use it or has promised it to others: a bit for each thing.
    fn owns(&self) -> u64;

    /// What it will still have in its next view, once it has delivered all that it delivers before
    /// that view: a bit for each thing.
    fn keeps(&self) -> u64;

    /// Whether this member serves its application, and knows what its view agreed on.
    fn is_settled(&self) -> bool;

    /// Whether this member was initialised. Until then it may be given what it does not know of.
    fn is_initialised(&self) -> bool;

    /// Whether two settled members that have delivered as much know the same.
    fn agrees(&self, other: &Self) -> bool;

    /// The name of an invariant of one member that does not hold, if there is one.
    fn flaw(&self) -> Option<&'static str>;
}
