//! The activity of a process between its events: the look of its lane.

use crate::Scene;
use synod_core::family::Mark;
use synod_sim::trace::{Event, What};

/// The activity of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    /// Whether it runs.
    pub life: Life,
    /// The state of its operation.
    pub operation: Operation,
}

/// Whether a process runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Life {
    /// It runs.
    #[default]
    Up,
    /// It stands still and will go on.
    Paused,
    /// It crashed.
    Down,
}

/// The state of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// None is under way.
    #[default]
    Idle,
    /// It has asked, and waits.
    Waiting,
    /// It holds the resource that it asked for: the critical section.
    Holding,
}

impl Lane {
    /// The activity after an event of its own.
    pub fn after(self, event: &Event) -> Lane {
        let life = match event.what {
            What::Crash => return Lane { life: Life::Down, operation: Operation::Idle },
            What::Pause => Life::Paused,
            What::Resume | What::Start | What::Restart => Life::Up,
            _ => self.life,
        };
        let operation = match event.mark {
            Mark::Ask => Operation::Waiting,
            Mark::Begin => Operation::Holding,
            Mark::End | Mark::Done | Mark::Refused | Mark::Whole => Operation::Idle,
            Mark::Reached | Mark::None => self.operation,
        };
        Lane { life, operation }
    }
}

/// The lanes of all processes, as the events pass by.
#[derive(Clone, Debug)]
pub struct Lanes(Vec<Lane>);

impl Lanes {
    /// The activity of each process after the `earlier` events.
    pub fn after(scene: &Scene, earlier: &[Event]) -> Self {
        let mut lanes = Lanes(vec![Lane::default(); scene.n()]);
        earlier.iter().for_each(|event| lanes.pass(scene, event));
        lanes
    }

    /// Takes in one more event.
    pub fn pass(&mut self, scene: &Scene, event: &Event) {
        if let Some(lane) = scene.lane_of(event) {
            self.0[lane] = self.0[lane].after(event);
        }
    }

    /// The present activity of each process.
    pub fn now(&self) -> &[Lane] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Script;

    #[test]
    fn a_lane_waits_from_asking_until_it_holds_and_a_crash_ends_everything() {
        let mut script = Script::new(1);
        script.asks(0, "requests").begins(0, "enters").pause(0).resume(0).crash(0).restart(0);
        let events = script.events();
        let mut lanes = Lanes::after(&Scene::new("", 1), &[]);
        let looks: Vec<(Life, Operation)> = events
            .iter()
            .map(|event| {
                lanes.pass(&Scene::new("", 1), event);
                (lanes.now()[0].life, lanes.now()[0].operation)
            })
            .collect();
        assert_eq!(
            looks,
            [
                (Life::Up, Operation::Waiting),
                (Life::Up, Operation::Holding),
                (Life::Paused, Operation::Holding),
                (Life::Up, Operation::Holding),
                (Life::Down, Operation::Idle),
                (Life::Up, Operation::Idle),
            ]
        );
    }
}
