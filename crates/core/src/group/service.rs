//! What stands above an engine.

use super::{Capabilities, Delivery, Level, View};
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::{Data, Wire};
use std::collections::VecDeque;

/// Something that a group offers together: seen from one member, a value that reacts to views and
/// deliveries, and may multicast. It knows nothing of messages between two processes, of detectors
/// or links; and it never waits for one member, only for views and deliveries.
pub trait Service: Data {
    /// What it multicasts.
    type Message: Wire;
    /// What its application asks.
    type Command: Data;
    /// What it tells its application.
    type Notice: Data;
    /// The name of a timer; setting a timer that is already set moves it.
    type Timer: Data;

    /// The application asks for something.
    fn on_command(&mut self, command: Self::Command, session: &mut Session<'_, Self>);

    /// These are the members from now on. The same view may be told twice.
    fn on_view(&mut self, view: &View, session: &mut Session<'_, Self>);

    /// The view is over: what is delivered until the next one is certain to be delivered by these
    /// members only. Only engines that tell who came with whom tell this.
    fn on_transitional(&mut self, _with: &ProcessSet, _session: &mut Session<'_, Self>) {}

    /// A message is delivered, in the same order at all members. Our own are among them.
    fn on_deliver(&mut self, delivery: Delivery<Self::Message>, session: &mut Session<'_, Self>);

    /// There is room again for what was refused.
    fn on_room(&mut self, _session: &mut Session<'_, Self>) {}

    /// Our membership is lost, and all that was held in its name is void: begin anew.
    fn on_lost(&mut self, session: &mut Session<'_, Self>);

    /// A timer that was set, and not cancelled since, runs out.
    fn on_timer(&mut self, _timer: Self::Timer, _session: &mut Session<'_, Self>) {}
}

/// There is no room for a multicast now. Wait for [`Service::on_room`], or for the next delivery or
/// view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the group takes in no more multicasts for now")]
pub struct Full;

/// What a service asks for. Drivers carry it out in order, after the step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Act<S: Service> {
    /// Multicast this.
    Multicast(Level, S::Message),
    /// Tell the application.
    Tell(S::Notice),
    /// Set a timer, to so many milliseconds from now.
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
    /// A window for the member at `me`. For drivers: what is asked for is put behind `acts`.
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

    /// What the engine can do.
    #[inline]
    pub fn can(&self) -> Capabilities {
        self.can
    }

    /// How many multicasts are taken in now.
    #[inline]
    pub fn room(&self) -> usize {
        self.room
    }

    /// Multicasts to the group. Everybody in the view will deliver it, this member included.
    pub fn multicast(&mut self, level: Level, message: S::Message) -> Result<(), Full> {
        self.room = self.room.checked_sub(1).ok_or(Full)?;
        self.acts.push_back(Act::Multicast(level, message));
        Ok(())
    }

    /// Tells the application.
    #[inline]
    pub fn tell(&mut self, notice: S::Notice) {
        self.acts.push_back(Act::Tell(notice));
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
