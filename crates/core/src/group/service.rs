//! A service of a group: the layer above an engine.

use super::{Capabilities, Delivery, Level, View};
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::{Data, Wire};
use std::collections::VecDeque;

/// A service that the members of a group offer together. Seen from one member it is a value that
/// reacts to views and deliveries, and may multicast. It knows no messages between two processes,
/// no failure detectors and no links. It never waits for a single member, only for views and
/// deliveries; so no silent member can block it.
pub trait Service: Data {
    /// The multicasts of the service.
    type Message: Wire;
    /// The requests of the application.
    type Command: Data;
    /// The answers to the application.
    type Notice: Data;
    /// The name of a timer. Setting a timer that is already set moves it.
    type Timer: Data;

    /// The application makes a request.
    fn on_command(&mut self, command: Self::Command, session: &mut Session<'_, Self>);

    /// These are the members from now on. The engine may tell the same view twice.
    fn on_view(&mut self, view: &View, session: &mut Session<'_, Self>);

    /// The view is over: until the next view only these members are certain to deliver the same
    /// messages. An engine calls this only if it also tells which members came together.
    fn on_transitional(&mut self, _with: &ProcessSet, _session: &mut Session<'_, Self>) {}

    /// A message is delivered, in the same order at all members. A member's own messages are among
    /// them.
    fn on_deliver(&mut self, delivery: Delivery<Self::Message>, session: &mut Session<'_, Self>);

    /// The engine has room again, after it refused a multicast.
    fn on_room(&mut self, _session: &mut Session<'_, Self>) {}

    /// Our membership is lost, and every claim in its name is void: begin anew.
    fn on_lost(&mut self, session: &mut Session<'_, Self>);

    /// A timer runs out that was set, and not cancelled since.
    fn on_timer(&mut self, _timer: Self::Timer, _session: &mut Session<'_, Self>) {}
}

/// The engine has no room for a multicast now. Wait for [`Service::on_room`], or for the next
/// delivery or view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the group takes in no more multicasts for now")]
pub struct Full;

/// An effect that a service asks for. Drivers carry effects out in order, after the step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Act<S: Service> {
    /// Multicast this.
    Multicast(Level, S::Message),
    /// Hand this notice to the application.
    Notify(S::Notice),
    /// Set a timer that runs out after this number of milliseconds.
    SetTimer(S::Timer, u64),
    /// Forget a timer.
    CancelTimer(S::Timer),
    /// Leave the group.
    Leave,
}

/// A service's window on its group and its application, during one step.
pub struct Session<'a, S: Service> {
    me: ProcessId,
    can: Capabilities,
    room: usize,
    acts: &'a mut VecDeque<Act<S>>,
}

impl<'a, S: Service> Session<'a, S> {
    /// A window for the member at `me`. For drivers: the session appends the effects to `acts`.
    pub fn new(
        me: ProcessId,
        can: Capabilities,
        room: usize,
        acts: &'a mut VecDeque<Act<S>>,
    ) -> Self {
        Session { me, can, room, acts }
    }

    /// This node.
    #[inline]
    pub fn me(&self) -> ProcessId {
        self.me
    }

    /// The abilities of the engine.
    #[inline]
    pub fn can(&self) -> Capabilities {
        self.can
    }

    /// How many multicasts the engine takes in now.
    #[inline]
    pub fn room(&self) -> usize {
        self.room
    }

    /// Multicasts to the group. Every member of the view will deliver the message, this one
    /// included.
    pub fn multicast(&mut self, level: Level, message: S::Message) -> Result<(), Full> {
        self.room = self.room.checked_sub(1).ok_or(Full)?;
        self.acts.push_back(Act::Multicast(level, message));
        Ok(())
    }

    /// Hands a notice to the application, as an output of this process.
    #[inline]
    pub fn notify(&mut self, notice: S::Notice) {
        self.acts.push_back(Act::Notify(notice));
    }

    /// Sets a timer, or moves it if it is already set.
    pub fn set_timer(&mut self, timer: S::Timer, after_ms: u64) {
        self.acts.push_back(Act::SetTimer(timer, after_ms));
    }

    /// Cancels a timer, if it is set.
    pub fn cancel_timer(&mut self, timer: S::Timer) {
        self.acts.push_back(Act::CancelTimer(timer));
    }

    /// Leaves the group.
    pub fn leave(&mut self) {
        self.acts.push_back(Act::Leave);
    }
}
