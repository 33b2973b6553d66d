/** ∫ (x₁ + … + xₙ)^−p over the unit cube: Σₖ (−1)^(n−k)·C(n, k)·k^(n−p) / ((1 − p)·…·(n − p)). */
export function cornerTruth(n: number, p: number): number {
  let [sum, binomial] = [0, 1];
  for (let k = 0; k <= n; k++) {
    if (k > 0) sum += ((n - k) % 2 ? -1 : 1) * binomial * k ** (n - p);
    binomial *= (n - k) / (k + 1);
  }
  for (let j = 1; j <= n; j++) sum /= j - p;
  return sum;
}
