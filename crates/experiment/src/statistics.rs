//! Means of several runs, and their confidence intervals.

use serde::{Deserialize, Serialize};

/// The mean of a few numbers, their deviation, and the confidence interval of the true mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of one of them; 0 if there is only one.
    pub deviation: f64,
    /// Half the width of the interval that holds the true mean with 95 % confidence.
    pub confidence: f64,
}

/// 97.5 % quantiles of Student's distribution, for 1, 2, 3… degrees of freedom.
const STUDENT: [f64; 15] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131,
];

impl Mean {
    /// The mean of these numbers.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        if values.len() < 2 {
            return Mean { mean, deviation: 0.0, confidence: 0.0 };
        }
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (squares / (count - 1.0)).sqrt();
        let student = STUDENT.get(values.len() - 2).copied().unwrap_or(1.96);
        Mean { mean, deviation, confidence: student * deviation / count.sqrt() }
    }
}

/// The value below which this share of a histogram lies.
pub fn quantile(histogram: &[u64], share: f64) -> Option<usize> {
    let total: u64 = histogram.iter().sum();
    let wanted = (share * total as f64).ceil().max(1.0) as u64;
    let mut seen = 0;
    histogram.iter().position(|count| {
        seen += count;
        seen >= wanted
    })
}

/// Spearman's rank correlation of pairs: 1 if both are in the same order, -1 in the opposite.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let first = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let second = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let middle = (pairs.len() as f64 - 1.0) / 2.0;
    let product = |(a, b): (&f64, &f64)| (a - middle) * (b - middle);
    let together: f64 = first.iter().zip(&second).map(product).sum();
    let spread = |ranks: &[f64]| ranks.iter().map(|rank| (rank - middle).powi(2)).sum::<f64>();
    let scale = (spread(&first) * spread(&second)).sqrt();
    if scale == 0.0 { 0.0 } else { together / scale }
}

/// The rank of each value, from 0; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let equal = values.iter().filter(|other| *other == value).count() as f64;
        below + (equal - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_tells_how_sure_it_is() {
        let mean = Mean::of(&[1.0, 2.0, 3.0]);
        assert_eq!((mean.mean, mean.deviation), (2.0, 1.0));
        assert!((mean.confidence - 4.303 / 3f64.sqrt()).abs() < 1e-9);
        assert_eq!(Mean::of(&[5.0]).confidence, 0.0);
    }

    #[test]
    fn quantiles_are_where_the_share_is_reached() {
        let histogram = [0, 0, 79, 16, 5];
        assert_eq!(quantile(&histogram, 0.5), Some(2));
        assert_eq!(quantile(&histogram, 0.95), Some(3));
        assert_eq!(quantile(&histogram, 1.0), Some(4));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn the_same_order_is_perfect_correlation_and_ties_share_their_rank() {
        assert_eq!(rank_correlation(&[(1.0, 10.0), (2.0, 20.0), (3.0, 90.0)]), 1.0);
        assert_eq!(rank_correlation(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), -1.0);
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [1.5, 0.0, 1.5]);
    }
}
