// The weights of the score that says which lines a compaction keeps: numbers and nothing else, fitted offline by
// `npm run fit -- FOLDER --write` on recorded sessions. Nothing is learned at run time.

export interface ScoreWeights {
  /** Whether a name is needed again, in the order of `nameFeatures`. */
  readonly name: readonly number[]
  /** Whether a line helps where a name in it is needed, in the order of `lineFeatures`. */
  readonly line: readonly number[]
}

export const scoreWeights: ScoreWeights & { readonly origin: string } = {
  origin:
    'npm run fit: 34 sessions of 10 projects, 58378 names and 66092 lines at simulated boundaries; every third session held out',
  name: [
    -1.5336, -0.196, -0.0594, 1.0192, -0.0133, 1.1744, -0.2109, -0.3896, 0.046, -0.2368, 0.0432, -0.0809,
    0.163, -1.0354, -1.7615, -0.0452, 3.9443, -0.0898, -0.3736, -0.1206, 0.0086, -0.5253,
  ],
  line: [
    -1.3845, 0.0453, 1.2317, 0, -2.0729, -1.765, 0.3082, 1.453, -0.0725, 0.9564, 1.8051, 0.8429, 0.3071,
    -0.0651,
  ],
}
