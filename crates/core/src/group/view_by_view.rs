//! The facts that a service states about itself so that an explorer can explore its views one at a
//! time.

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
    /// messages that it delivers before its next view. They will enter that view together, and
    /// `alone` is the view in which they meet no other member. The service does now what the
    /// absence of the members left behind will make it do then, and forgets these members.
    fn leave_behind(&mut self, alone: &View);

    /// Resources that this member may use now and no other member may, a bit for each.
    fn holds(&self) -> u64;

    /// Resources of its own, which it may use or has promised to others, a bit for each.
    fn owns(&self) -> u64;

    /// Resources that it will still have in its next view, once it has delivered all messages that
    /// come before that view, a bit for each.
    fn keeps(&self) -> u64;

    /// Whether this member serves its application, and knows what its view agreed on.
    fn is_settled(&self) -> bool;

    /// Whether this member was initialised. Until then other members may assign it resources of
    /// which it does not know.
    fn is_initialised(&self) -> bool;

    /// Whether two settled members that have delivered the same messages know the same.
    fn agrees(&self, other: &Self) -> bool;

    /// The name of an invariant of one member that does not hold, if there is one.
    fn flaw(&self) -> Option<&'static str>;
}
