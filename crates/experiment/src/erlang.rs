//! Erlang's formula: how often a claim finds all servers in use.

/// The probability that a claim is lost, with `offered` claims per lifetime and `servers` servers.
/// Exact for any law of lifetimes, if claims come at random times.
pub fn erlang_b(offered: f64, servers: u32) -> f64 {
    (1..=servers).fold(1.0, |lost, k| offered * lost / (f64::from(k) + offered * lost))
}

/// The same in the terms of the tables: failed claims for each success.
pub fn failed_per_success(offered: f64, servers: u32) -> f64 {
    let lost = erlang_b(offered, servers);
    lost / (1.0 - lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_is_what_tables_of_it_say() {
        assert!((erlang_b(1.0, 1) - 0.5).abs() < 1e-12);
        assert!((erlang_b(10.0, 10) - 0.214_58).abs() < 1e-5);
        assert!((erlang_b(658.2, 768) / 2.442e-6 - 1.0).abs() < 0.01);
        assert!((failed_per_success(24.0 * 0.9, 24) - 0.106_6).abs() < 1e-4);
        assert!((failed_per_success(768.0 * 0.95, 768) - 0.005_80).abs() < 1e-5);
    }
}
