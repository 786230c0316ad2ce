//! Messages that a traitor can make up with its own keys: it cannot sign for clients, nor for other
//! replicas.

use super::message::Statement;
use super::{
    Batch, Message, NewView, PrePrepare, Proposal, Replica, Request, Rules, SignedChange,
    ViewChange,
};
use synod_agreement::seal::Digest;
use synod_core::family::consensus::Value;
use synod_core::replication::{Action, Command, Operation, Sessions, Store};

type Said = Message<Operation, Sessions<Store>>;

impl<R: Rules> Replica<R> {
    /// Another message in the place of this one. A value stands for how much of the truth is left:
    /// the number of requests in a batch, or of certificates in a view change.
    pub(super) fn lie_about(&self, message: &Said, Value(value): Value) -> Option<Said> {
        let me = self.me();
        match message {
            Message::Request(request) if request.command.request.client.at == me => {
                Some(Message::Request(self.other_request(request, value)))
            }
            Message::PrePrepare(pre_prepare)
                if self.settings.primary(pre_prepare.proposal.view) == me =>
            {
                let batch = part(&pre_prepare.batch, value);
                let proposal = Proposal { digest: Digest::of_data(&batch), ..pre_prepare.proposal };
                let signature = self.sign(&Statement::PrePrepare(proposal));
                Some(Message::PrePrepare(PrePrepare { proposal, batch, signature }))
            }
            Message::Prepare(proposal, _) => {
                let proposal = self.other_proposal(*proposal, value)?;
                Some(Message::Prepare(proposal, self.sign(&Statement::Prepare(proposal))))
            }
            Message::Commit(proposal) => self.other_proposal(*proposal, value).map(Message::Commit),
            Message::Checkpoint { number, .. } => {
                let (number, digest) = (*number, Digest::of_data(&value));
                let signature = self.sign(&Statement::Checkpoint { number, digest });
                Some(Message::Checkpoint { number, digest, signature })
            }
            Message::ViewChange(signed) if signed.by == me => {
                Some(Message::ViewChange(Box::new(self.other_change(&signed.change, value))))
            }
            Message::NewView(new) if self.settings.primary(new.view) == me => {
                Some(Message::NewView(Box::new(self.other_view(new, value))))
            }
            Message::Status { view, changing, round, .. } => {
                let (view, changing, round) = (*view, *changing, *round);
                Some(Message::Status { view, changing, executed: value, stable: value, round })
            }
            _ => None,
        }
    }

    fn other_request(&self, request: &Request<Operation>, value: u64) -> Request<Operation> {
        let key = request.command.operation.key;
        let operation = Operation { key, action: Action::Put(value) };
        let command = Command { request: request.command.request, operation };
        let signature = self.sign(&Statement::Request(&command));
        Request { command, signature }
    }

    /// The proposal with which a lying primary would have begun.
    fn other_proposal(&self, proposal: Proposal, value: u64) -> Option<Proposal> {
        let pre_prepare = self.log.get(&proposal.number)?.pre_prepare.as_ref()?;
        let digest = Digest::of_data(&part(&pre_prepare.batch, value));
        Some(Proposal { digest, ..proposal })
    }

    fn other_change(&self, change: &ViewChange<Operation>, value: u64) -> SignedChange<Operation> {
        let prepared = part(&change.prepared, value);
        let change = ViewChange { prepared, ..change.clone() };
        let signature = self.sign(&Statement::ViewChange(&change));
        SignedChange { by: self.me(), change, signature }
    }

    /// A view that begins with nothing but the first proposals.
    fn other_view(&self, new: &NewView<Operation>, value: u64) -> NewView<Operation> {
        let pre_prepares = part(&new.pre_prepares, value);
        let proposals = Digest::of_data(&Batch::<Operation>::new());
        let signature = self.sign(&Statement::NewView { view: new.view, proposals });
        NewView { pre_prepares, signature, ..new.clone() }
    }
}

/// The first ones, as the value says, at most all.
fn part<T: Clone>(whole: &[T], value: u64) -> Vec<T> {
    let left = value % (whole.len() as u64 + 1);
    whole[..left as usize].to_vec()
}
