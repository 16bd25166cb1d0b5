// The weights of the score that says which lines a compaction keeps: numbers and nothing else, fitted offline by
// `npm run fit -- FOLDER --write` on recorded sessions. Nothing is learned at run time.

export interface ScoreWeights {
  /** Whether a name is needed again, in the order of `nameFeatures`. */
  readonly name: readonly number[]
  /** Whether a line helps where a name in it is needed, in the order of `lineFeatures`. */
  readonly line: readonly number[]
  /** Whether an edit quotes a piece of a block, in the order of `pieceFeatures`. */
  readonly piece: readonly number[]
}

export const scoreWeights: ScoreWeights & { readonly origin: string } = {
  origin:
    'npm run fit: 34 sessions of 10 projects, 58368 names, 64903 lines and 10580 pieces at simulated boundaries; every third session held out',
  name: [
    -1.5336, -0.198, -0.0535, 1.0195, -0.0122, 1.1604, -0.222, -0.3971, 0.0938, -0.2525, 0.0318, -0.0914,
    0.1329, -1.0416, -1.7602, -0.0476, 3.9793, -0.0862, -0.3553, -0.1162, 0.0093, -0.5303,
  ],
  line: [
    -1.4591, 0.0017, 1.2652, 0, -2.104, -1.7427, 0.3333, 1.4383, -0.0603, 0.966, 1.8605, 0.8574, 0.3134,
    -0.0595,
  ],
  piece: [
    -6.0214, 1.2256, 0.8299, 1.4496, 0, -0.6271, 1.3451, -0.6068, 0.2347, -0.0709, 1.6765, -0.0835, 0.0824,
    0.0672, 0.3617, 0.1972, 0.4845, 0.2105, -0.1457, -2.056, 0.1247, 0.5433, -0.1108, 0.1331,
  ],
}
