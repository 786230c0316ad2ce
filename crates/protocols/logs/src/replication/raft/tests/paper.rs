//! The Raft paper (extended version), sentence by sentence: each test says in which section.

use super::*;

/// Section 5.1: if one server's current term is smaller than the other's, then it updates its
/// current term to the larger value.
#[test]
fn a_server_that_hears_of_a_greater_term_enters_it_whatever_the_message() {
    let messages = [
        append(2, at(0, 0), &[], 0),
        request_vote(2, at(9, 9)),
        vote(2, false),
        appended(2, Outcome::Differs(0)),
        Message::TimeoutNow { term: 2 },
    ];
    for message in messages {
        let mut server = Watched::new(P0, 3);
        server.hears(P1, message.clone());
        assert_eq!(server.server.term(), 2, "{message:?}");
        assert_eq!(server.crashed().term(), 2, "it is on the disk: {message:?}");
    }
}

/// Section 5.1: a candidate or leader that discovers that its term is out of date reverts to
/// follower.
#[test]
fn a_candidate_or_leader_whose_term_is_out_of_date_follows() {
    let mut candidate = Watched::new(P0, 3);
    candidate.fires(Timer::Election);
    for mut server in [candidate, Watched::leader()] {
        server.hears(P2, append(2, at(0, 0), &[], 0));
        assert_eq!(server.follows(), Some(Some(P2)));
    }
}

/// Section 5.1: a server that receives a request with a stale term number rejects the request.
#[test]
fn a_request_with_a_stale_term_is_rejected() {
    let mut server = Watched::with(P0, settings(3), 3, &[]);
    assert_eq!(server.hears(P1, request_vote(2, at(2, 9))), [(P1, vote(3, false))]);
    let answers = server.hears(P1, append(2, at(0, 0), &[2], 0));
    assert_eq!(answers, [(P1, appended(3, Outcome::Differs(0)))]);
    assert!(server.terms().is_empty());
}

/// Section 5.2: when servers start up, they begin as followers.
#[test]
fn a_server_begins_as_a_follower_also_after_a_crash() {
    assert_eq!(Watched::new(P0, 3).follows(), Some(None));
    let mut again = Watched::leader();
    again.server = again.crashed();
    again.does(|server, cx| server.on_start(cx));
    assert_eq!((again.follows(), again.server.term()), (Some(None), 1));
}

/// Section 5.2: leaders send periodic heartbeats (AppendEntries RPCs that carry no log entries) to
/// all followers.
#[test]
fn a_leader_sends_heartbeats_to_all_and_sets_the_timer_again() {
    let mut leader = Watched::leader();
    for follower in [P1, P2] {
        leader.hears(follower, appended(1, Outcome::Agrees(1)));
    }
    let beats = leader.fires(Timer::Heartbeat);
    let beat =
        |round| Message::Append { term: 1, after: at(1, 1), entries: Vec::new(), commit: 1, round };
    assert_eq!(beats, [(P1, beat(1)), (P2, beat(1))]);
    assert!(leader.timers.contains(&(Timer::Heartbeat, 50)));
}

/// Section 5.2: a follower that receives no communication over the election timeout begins an
/// election: it increments its current term, transitions to candidate state, votes for itself and
/// issues RequestVote RPCs to each of the other servers.
#[test]
fn a_follower_without_a_leader_campaigns_in_the_next_term_and_votes_for_itself() {
    let mut server = Watched::with(P0, settings(3), 1, &[1]);
    let asked = server.fires(Timer::Election);
    assert_eq!(asked, [P1, P2].map(|to| (to, request_vote(2, at(1, 1)))));
    assert!(server.is_candidate());
    let again = server.crashed();
    assert_eq!((again.term, again.vote), (2, Some(P0)), "the vote is on the disk first");
}

/// Section 5.2: a candidate wins an election if it receives votes from a majority of the servers in
/// the full cluster for the same term.
#[test]
fn a_candidate_leads_with_the_votes_of_a_majority_of_the_same_term() {
    for (n, votes, leads) in
        [(1, 0, true), (2, 0, false), (2, 1, true), (3, 1, true), (5, 1, false), (5, 2, true)]
    {
        let mut server = Watched::new(P0, n);
        server.fires(Timer::Election);
        for voter in ProcessId::all(n).skip(1).take(votes) {
            server.hears(voter, vote(1, true));
        }
        assert_eq!(server.server.leads(), leads, "{votes} votes of others, of {n} servers");
    }
    let mut server = Watched::with(P0, settings(3), 1, &[]);
    server.fires(Timer::Election);
    server.hears(P1, vote(1, true));
    server.hears(P1, vote(2, false));
    assert!(server.is_candidate(), "a vote of an earlier term and a refusal count for nothing");
}

/// Section 5.2: each server will vote for at most one candidate in a given term, on a
/// first-come-first-served basis.
#[test]
fn a_server_votes_for_the_first_candidate_of_a_term_and_remembers_it() {
    let mut server = Watched::new(P0, 3);
    assert_eq!(server.hears(P1, request_vote(1, at(0, 0))), [(P1, vote(1, true))]);
    assert_eq!(server.hears(P2, request_vote(1, at(0, 0))), [(P2, vote(1, false))]);
    server.server = server.crashed();
    assert_eq!(server.hears(P2, request_vote(1, at(0, 0))), [(P2, vote(1, false))]);
    assert_eq!(server.hears(P1, request_vote(1, at(0, 0))), [(P1, vote(1, true))], "again");
    assert_eq!(server.hears(P2, request_vote(2, at(0, 0))), [(P2, vote(2, true))], "later");
}

/// Section 5.2: if the leader's term is at least as large as the candidate's, the candidate
/// recognises it and returns to follower state; if it is smaller, it rejects the RPC and continues
/// in candidate state.
#[test]
fn a_candidate_recognises_a_leader_of_its_term_and_rejects_one_of_an_earlier_term() {
    for (term, is_leader) in [(1, false), (2, true), (3, true)] {
        let mut server = Watched::with(P0, settings(3), 1, &[]);
        server.fires(Timer::Election);
        server.hears(P1, append(term, at(0, 0), &[], 0));
        assert_eq!(server.follows() == Some(Some(P1)), is_leader, "term {term}");
        assert_eq!(server.is_candidate(), !is_leader, "term {term}");
    }
}

/// Section 5.2: when votes are split, each candidate will time out and start a new election by
/// incrementing its term and initiating another round of RequestVote RPCs.
#[test]
fn a_candidate_that_is_not_elected_campaigns_again_in_the_next_term() {
    let mut server = Watched::new(P0, 3);
    server.fires(Timer::Election);
    server.hears(P1, vote(1, false));
    assert!(server.timers.iter().any(|(timer, _)| *timer == Timer::Election));
    let asked = server.fires(Timer::Election);
    assert_eq!(asked, [P1, P2].map(|to| (to, request_vote(2, at(0, 0)))));
}

/// Section 5.2: a follower remains in follower state as long as it receives valid RPCs from a
/// leader or candidate: each of them begins the election timeout anew.
#[test]
fn a_leader_that_is_heard_and_a_vote_that_is_given_put_an_election_off() {
    for message in [append(1, at(0, 0), &[], 0), request_vote(1, at(0, 0))] {
        let mut server = Watched::new(P0, 3);
        server.timers.clear();
        server.hears(P1, message.clone());
        assert_eq!(server.timers, [(Timer::Election, 300)], "{message:?}");
    }
    let mut server = Watched::with(P0, settings(3), 3, &[3]);
    server.timers.clear();
    server.hears(P1, append(2, at(0, 0), &[], 0));
    server.hears(P2, request_vote(3, at(2, 9)));
    assert!(server.timers.is_empty(), "a stale leader and a candidate in vain do not");
}

/// Section 5.3: the leader appends the command to its log as a new entry, then issues AppendEntries
/// RPCs in parallel to each of the other servers.
#[test]
fn a_leader_appends_a_command_and_sends_it_to_all() {
    let mut leader = Watched::leader();
    let sent = leader.asked(Ask::Append(7));
    let entries = vec![LogEntry { term: 1, entry: Entry::Command(7) }];
    let message = Message::Append { term: 1, after: at(1, 1), entries, commit: 0, round: 0 };
    assert_eq!(sent, [(P1, message.clone()), (P2, message)]);
    assert_eq!(leader.crashed().log.last(), at(1, 2), "it is on its own disk");
}

/// Section 5.3: a log entry is committed once the leader that created the entry has replicated it
/// on a majority of the servers; and it applies the entry when it is.
#[test]
fn an_entry_is_committed_and_applied_when_a_majority_has_it() {
    for (n, answers, is_committed) in
        [(1, 0, true), (2, 0, false), (3, 0, false), (3, 1, true), (5, 1, false), (5, 2, true)]
    {
        let mut leader = Watched::elected(P0, n, 0, &[]);
        for follower in ProcessId::all(n).skip(1).take(answers) {
            leader.hears(follower, appended(1, Outcome::Agrees(1)));
        }
        assert_eq!(leader.applied() == [1], is_committed, "{answers} answers, of {n} servers");
    }
}

/// Section 5.3: this also commits all preceding entries in the leader's log, including entries
/// created by previous leaders.
#[test]
fn entries_of_earlier_leaders_are_committed_with_one_of_the_leaders_own() {
    let mut leader = Watched::elected(P0, 3, 2, &[1, 2]);
    leader.hears(P1, appended(3, Outcome::Agrees(3)));
    assert_eq!(leader.applied(), [1, 2, 3], "in the order of the log");
}

/// Section 5.3: once a follower learns that a log entry is committed, it applies the entry to its
/// local state machine (in log order).
#[test]
fn a_follower_applies_what_the_leader_says_is_committed_as_far_as_it_has_it() {
    let mut follower = Watched::new(P0, 3);
    follower.hears(P1, append(1, at(0, 0), &[1, 1], 1));
    assert_eq!(follower.applied(), [1]);
    follower.hears(P1, append(1, at(1, 2), &[], 9));
    assert_eq!(follower.applied(), [1, 2], "it has no more");
}

/// Section 5.3: if the follower does not find an entry in its log with the same index and term,
/// then it refuses the new entries.
#[test]
fn a_follower_refuses_entries_after_one_that_it_does_not_have() {
    for (after, hint) in [(at(1, 3), 2), (at(3, 2), 1)] {
        let mut follower = Watched::with(P0, settings(3), 3, &[1, 2]);
        let answers = follower.hears(P1, append(3, after, &[3], 0));
        assert_eq!(answers, [(P1, appended(3, Outcome::Differs(hint)))], "{after:?}");
        assert_eq!(follower.terms(), [1, 2]);
    }
}

/// The leader p0 sends a heartbeat; then it and p1 get each other's messages, until none is left.
fn beat_once(leader: &mut Watched, follower: &mut Watched) {
    let mut mail: VecDeque<_> = leader.fires(Timer::Heartbeat).into();
    for _ in 0..1_000 {
        match mail.pop_front() {
            None => return,
            Some((P0, message)) => mail.extend(leader.hears(P1, message)),
            Some((P1, message)) => mail.extend(follower.hears(P0, message)),
            Some(_) => {}
        }
    }
    panic!("they never fall silent");
}

/// Section 5.3: if network packets are lost, the leader retries AppendEntries RPCs indefinitely,
/// until all followers eventually store all log entries.
#[test]
fn a_leader_sends_lost_entries_again() {
    let mut leader = Watched::leader();
    leader.asked(Ask::Append(7));
    // All that it has sent so far is lost.
    let mut follower = Watched::new(P1, 3);
    beat_once(&mut leader, &mut follower);
    assert_eq!(follower.terms(), [1, 1]);
}

/// Figure 7: the leader of term 8, and what followers may have. Section 5.3: the leader finds the
/// latest log entry where the two logs agree, and the follower's entries after that point are
/// removed.
#[test]
fn the_logs_of_figure_7_become_the_leaders() {
    let leaders = [1, 1, 1, 4, 4, 5, 5, 6, 6, 6];
    let followers: [(&str, &[u64]); 6] = [
        ("a", &[1, 1, 1, 4, 4, 5, 5, 6, 6]),
        ("b", &[1, 1, 1, 4]),
        ("c", &[1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 6]),
        ("d", &[1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 7, 7]),
        ("e", &[1, 1, 1, 4, 4, 4, 4]),
        ("f", &[1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3]),
    ];
    for (name, terms) in followers {
        let mut leader = Watched::elected(P0, 3, 7, &leaders);
        let mut follower = Watched::with(P1, settings(3), 7, terms);
        beat_once(&mut leader, &mut follower);
        let wanted = [&leaders[..], &[8]].concat();
        assert_eq!((name, follower.terms()), (name, wanted.clone()));
        assert_eq!((name, leader.terms()), (name, wanted), "a leader never changes its own log");
        assert_eq!(leader.applied().len(), 11, "{name}");
    }
}

/// Section 5.4.1: the voter denies its vote if its own log is more up-to-date than that of the
/// candidate: the log with the later term is, or the longer one if the logs end with the same term.
#[test]
fn a_vote_goes_only_to_a_log_that_is_as_up_to_date() {
    for (last, granted) in
        [(at(1, 9), false), (at(2, 1), false), (at(2, 2), true), (at(2, 3), true), (at(3, 1), true)]
    {
        let mut voter = Watched::with(P0, settings(3), 3, &[1, 2]);
        assert_eq!(voter.hears(P1, request_vote(4, last)), [(P1, vote(4, granted))], "{last:?}");
    }
}

/// Section 5.4.2: only log entries from the leader's current term are committed by counting
/// replicas.
#[test]
fn an_entry_of_an_earlier_term_is_not_committed_by_counting() {
    let mut leader = Watched::elected(P0, 3, 2, &[1, 2]);
    leader.hears(P1, appended(3, Outcome::Agrees(2)));
    assert!(leader.applied().is_empty());
}

/// Section 5.5: if a follower receives an AppendEntries request that includes log entries already
/// present in its log, it ignores those entries.
#[test]
fn entries_that_come_again_change_nothing_and_are_answered_again() {
    let mut follower = Watched::new(P0, 3);
    follower.hears(P1, append(1, at(0, 0), &[1, 1], 0));
    let records = follower.disk.len();
    let answers = follower.hears(P1, append(1, at(0, 0), &[1], 0));
    assert_eq!(answers, [(P1, appended(1, Outcome::Agrees(1)))]);
    assert_eq!((follower.terms(), follower.disk.len()), (vec![1, 1], records));
}

/// Section 5.6 names the order of times that Raft needs: the election timeout is far longer than a
/// heartbeat.
#[test]
fn settings_in_which_a_heartbeat_may_not_be_missed_are_refused() {
    let hasty = Settings { election_ms: 60, ..settings(3) };
    assert_eq!(hasty.check().map_err(|bad| bad.name), Err("election_ms"));
    assert_eq!(settings(3).check(), Ok(()));
}

/// Section 6: a server always uses the latest configuration in its log, regardless of whether the
/// entry is committed. (Voters change one at a time: section 4.1 of the dissertation.)
#[test]
fn voters_count_as_soon_as_they_are_in_the_log() {
    let mut leader = Watched::leader();
    leader.hears(P1, appended(1, Outcome::Agrees(1)));
    leader.asked(Ask::Reconfigure([P0, P1].into_iter().collect()));
    assert_eq!(leader.server.log.voters().len(), 2);
    leader.hears(P1, appended(1, Outcome::Agrees(2)));
    assert_eq!(leader.server.commit(), 2, "the two of them are a majority of two");
}

/// Section 6: servers disregard RequestVote RPCs when they believe a current leader exists.
#[test]
fn a_server_that_hears_a_leader_disregards_requests_for_votes() {
    let settings = Settings { pre_vote: true, ..settings(3) };
    let mut follower = Watched::with(P0, settings, 1, &[]);
    follower.hears(P1, append(1, at(0, 0), &[], 0));
    assert!(follower.hears(P2, request_vote(9, at(9, 9))).is_empty());
    assert_eq!(follower.server.term(), 1, "it does not update its term either");
    let called = Message::RequestVote { term: 2, pre: false, called: true, last: at(0, 0) };
    assert_eq!(follower.hears(P2, called), [(P2, vote(2, true))], "a leadership transfer");
}

/// Section 9.6 of the dissertation: in the Pre-Vote algorithm a candidate increments its term only
/// if it first learns that a majority would grant it its vote.
#[test]
fn a_pre_candidate_keeps_its_term_until_a_majority_would_vote_for_it() {
    let settings = Settings { pre_vote: true, ..settings(3) };
    let mut server = Watched::with(P0, settings.clone(), 1, &[]);
    let asked = server.fires(Timer::Election);
    let question = Message::RequestVote { term: 2, pre: true, called: false, last: at(0, 0) };
    assert_eq!((asked[0].clone(), server.server.term()), ((P1, question.clone()), 1));
    let mut voter = Watched::with(P1, settings, 1, &[]);
    let answer = Message::Vote { term: 2, pre: true, granted: true };
    assert_eq!(voter.hears(P0, question), [(P0, answer.clone())]);
    assert_eq!((voter.server.term(), voter.server.vote), (1, None), "no vote was given");
    server.hears(P1, answer);
    assert_eq!(server.server.term(), 2);
}

/// Section 7: each server takes snapshots independently, covering just the committed entries in its
/// log; it may then delete all log entries up through the last included index.
#[test]
fn a_snapshot_replaces_the_committed_entries_and_no_others() {
    let mut follower = Watched::new(P0, 3);
    follower.hears(P1, append(1, at(0, 0), &[1, 1, 1], 2));
    follower.asked(Ask::Compact { index: 3, state: Map::default() });
    assert_eq!(follower.server.log.first_kept(), 0, "entry 3 is not committed");
    follower.asked(Ask::Compact { index: 2, state: Map::default() });
    assert_eq!((follower.server.log.first_kept(), follower.terms()), (2, vec![1]));
    assert_eq!(follower.crashed().log, follower.server.log, "it is on the disk");
}

/// Section 7: the last included index and term support the AppendEntries consistency check for the
/// first log entry following the snapshot.
#[test]
fn entries_after_a_snapshot_are_checked_against_its_last_entry() {
    for (after, agrees) in [(at(1, 2), true), (at(2, 2), false)] {
        let mut follower = Watched::with(P0, settings(3), 3, &[1, 1]);
        follower.hears(P1, append(3, at(1, 2), &[], 2));
        follower.asked(Ask::Compact { index: 2, state: Map::default() });
        follower.hears(P1, append(3, after, &[3], 2));
        assert_eq!(follower.server.log.last_index() == 3, agrees, "{after:?}");
    }
}

/// Section 7: the leader sends a snapshot when it has already discarded the next log entry that it
/// needs to send to a follower.
#[test]
fn a_follower_that_lacks_discarded_entries_gets_the_snapshot() {
    let mut leader = Watched::leader();
    leader.hears(P1, appended(1, Outcome::Agrees(1)));
    leader.asked(Ask::Compact { index: 1, state: Map::default() });
    let sent = leader.hears(P2, appended(1, Outcome::Differs(0)));
    let [(P2, Message::Install { snapshot, .. })] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(snapshot.last, at(1, 1));
}

/// Section 7: if the snapshot describes a prefix of the follower's log, then entries following the
/// snapshot are still valid and must be retained; otherwise the entire log is superseded.
#[test]
fn a_snapshot_keeps_the_entries_that_follow_it_or_replaces_the_whole_log() {
    for (last, kept) in [(at(1, 2), vec![2]), (at(2, 2), vec![]), (at(2, 9), vec![])] {
        let mut follower = Watched::with(P0, settings(3), 3, &[1, 1, 2]);
        let voters = ProcessSet::all(3);
        let snapshot = Snapshot { last, voters, state: Some(Map::default()) };
        follower.hears(P1, Message::Install { term: 3, snapshot, round: 0 });
        assert_eq!((follower.server.log.first_kept(), follower.terms()), (last.index, kept));
    }
}

/// Section 8: each leader commits a blank no-op entry into the log at the start of its term.
#[test]
fn a_leader_begins_with_an_empty_entry_of_its_term() {
    let leader = Watched::elected(P0, 3, 4, &[1, 4]);
    assert_eq!(leader.terms(), [1, 4, 5]);
    let last = leader.server.log.entry(3).map(|entry| entry.entry.clone());
    assert_eq!(last, Some(Entry::Nothing));
}

/// Section 8: the leader exchanges heartbeat messages with a majority of the cluster before
/// responding to read-only requests.
#[test]
fn a_read_waits_for_a_round_of_heartbeats_that_begins_after_it() {
    let mut leader = Watched::leader();
    leader.hears(P1, appended(1, Outcome::Agrees(1)));
    leader.asked(Ask::Read(4));
    let is_readable = |leader: &Watched| leader.outputs.contains(&Event::Readable(4));
    leader.hears(P1, appended(1, Outcome::Agrees(1)));
    assert!(!is_readable(&leader), "that answers an earlier round");
    leader.hears(P1, Message::Appended { term: 1, outcome: Outcome::Agrees(1), round: 1 });
    assert!(is_readable(&leader));
}
