//! Applications of nodes that offer several services.

use super::{Definition, Input, Output, SAYS, Services, Tag, added, are_opened, definitions};
use crate::card::Rounds;
use crate::family::slots::Tenant;
use crate::family::{Application, Moment};
use crate::group::Level;
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;
use std::collections::BTreeMap;

/// An application that opens its services, and claims slots in each pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tenants {
    /// The services that it has yet to open.
    unopened: BTreeMap<Tag, Definition>,
    /// The added nodes of which it has yet to tell.
    untold: Option<ProcessSet>,
    pools: BTreeMap<Tag, Tenant>,
    group: Option<Tag>,
    /// The number of messages that it has yet to cast, and of those that it cast.
    says: u32,
    said: u32,
    me: ProcessId,
}

impl Application for Tenants {
    type Family = Services;

    fn new(me: ProcessId, setup: &Setup, rounds: Rounds) -> Self {
        let services = definitions(setup).expect("the algorithm has accepted the numbers");
        let mut services: BTreeMap<_, _> = (0..).map(Tag).zip(services).collect();
        let of_pools = |(tag, what): (&Tag, &Definition)| match what {
            Definition::Pool(_) => Some((*tag, Tenant::new(me, setup, rounds))),
            Definition::Group => None,
        };
        let group = services.iter().find(|(_, what)| **what == Definition::Group);
        let (pools, group) =
            (services.iter().filter_map(of_pools).collect(), group.map(|(tag, _)| *tag));
        if are_opened(setup).expect("the algorithm has accepted the word") {
            services.clear();
        }
        let added = added(setup).expect("the algorithm has accepted the names");
        Tenants {
            pools,
            group,
            unopened: services,
            untold: Some(added).filter(|added| !added.is_empty() && rounds.are_left()),
            says: setup.number(SAYS.name, 0).map_or(0, |says| says as u32),
            said: 0,
            me,
        }
    }

    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        // In order: another order would only multiply the states.
        if let Some((tag, what)) = self.unopened.first_key_value() {
            return offer(Input::Open(*tag, *what));
        }
        if let Some(added) = &self.untold {
            offer(Input::Nodes(added.clone()));
        }
        for (tag, tenant) in &self.pools {
            tenant.offers(&mut |input| offer(Input::Pool(*tag, input)));
        }
        if let Some(tag) = self.group.filter(|_| self.says > 0) {
            offer(Input::Cast(tag, Level::Agreed, vec![self.me.0 as u8, self.said as u8]));
        }
    }

    fn may_ask(&self, input: &Input) -> bool {
        match input {
            Input::Pool(tag, input) => {
                self.pools.get(tag).is_some_and(|tenant| tenant.may_ask(input))
            }
            Input::Open(tag, _) => self.unopened.first_key_value().is_some_and(|(t, _)| t == tag),
            Input::Cast(tag, ..) => self.group == Some(*tag) && self.says > 0,
            Input::Nodes(nodes) => self.untold.as_ref() == Some(nodes),
            Input::Close(_) | Input::Forget(..) | Input::Leave => false,
        }
    }

    fn on_input(&mut self, input: &Input) {
        match input {
            Input::Open(tag, _) => {
                self.unopened.remove(tag);
            }
            Input::Pool(tag, input) => {
                if let Some(tenant) = self.pools.get_mut(tag) {
                    tenant.on_input(input);
                }
            }
            Input::Cast(..) => {
                self.says = self.says.saturating_sub(1);
                self.said += 1;
            }
            Input::Nodes(_) => self.untold = None,
            Input::Close(_) | Input::Forget(..) | Input::Leave => {}
        }
    }

    fn on_output(&mut self, output: &Output, moment: Moment<'_>) -> Option<Input> {
        match output {
            Output::Pool(tag, output) => {
                let answer = self.pools.get_mut(tag)?.on_output(output, moment)?;
                return Some(Input::Pool(*tag, answer));
            }
            Output::Lost => self.on_crash(),
            _ => {}
        }
        None
    }

    fn on_crash(&mut self) {
        self.pools.values_mut().for_each(Tenant::on_crash);
    }
}
