//! Crashes, restarts and pauses of processes.

use super::{Driver, Happening, Status, World};
use synod_core::{Algorithm, Application, Host, Monitor, ProcessId};

impl<A: Algorithm> World<A> {
    pub(super) fn crash(&mut self, at: ProcessId, driver: &mut dyn Driver<A>) {
        self.faults.crashes = self.faults.crashes.saturating_sub(1);
        self.forget_print(at);
        let process = &mut self.processes[at.index()];
        process.status = Status::Crashed;
        drop(process.host.on_crash());
        process.application.on_crash();
        // The state is lost. Only the algorithm's own invariants may still look at it; without them
        // it is reset, so that crashed worlds are equal.
        if self.fixed.invariants.is_empty() {
            *process.host.state_mut() = self.fixed.initial[at.index()].clone();
        }
        if self.fixed.lean {
            process.disk = None;
        }
        if self.fixed.lean {
            self.bury(at);
        }
        self.monitor.on_crash(at);
        driver.see(self.now_us, Happening::Crashed(at));
    }

    /// Writes the first waiting records of a process to its disk, without the effects that wait for
    /// them; the process is about to crash. The replay of a real run needs this: the operating
    /// system may kill a process after it wrote a record and before it logged the sync.
    pub fn reach_disk(&mut self, at: ProcessId, records: usize) {
        self.forget_print(at);
        let process = &mut self.processes[at.index()];
        let waiting = process.host.on_crash();
        if let Some(disk) = &mut process.disk {
            waiting.take(records).for_each(|record| disk.write(record));
        }
        self.renew_prints();
    }

    pub(super) fn restart(&mut self, at: ProcessId, with_disk: bool, driver: &mut dyn Driver<A>) {
        self.faults.restarts = self.faults.restarts.saturating_sub(1);
        self.forget_print(at);
        let process = &mut self.processes[at.index()];
        process.status = Status::Up;
        process.incarnation += 1;
        process.has_lost_disk = self.fixed.replay.is_some() && !with_disk;
        let initial = self.fixed.initial[at.index()].clone();
        process.host = match self.fixed.replay {
            Some(replay) if with_disk => Host::restored(initial, replay, process.records())
                .expect("this process wrote the records"),
            _ => {
                process.disk = None;
                Host::new(initial)
            }
        };
        self.monitor.on_restart(at);
        driver.see(self.now_us, Happening::Restarted(at, with_disk));
        self.run(at, driver, |host, carrier| host.on_start(carrier));
    }

    pub(super) fn set_status(&mut self, at: ProcessId, status: Status) {
        self.forget_print(at);
        self.processes[at.index()].status = status;
    }
}
