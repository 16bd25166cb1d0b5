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
    'npm run fit: 34 sessions of 10 projects, 58368 names, 64903 lines and 10426 pieces at simulated boundaries; every third session held out',
  name: [
    -1.5336, -0.198, -0.0535, 1.0195, -0.0122, 1.1604, -0.222, -0.3971, 0.0938, -0.2525, 0.0318, -0.0914,
    0.1329, -1.0416, -1.7602, -0.0476, 3.9793, -0.0862, -0.3553, -0.1162, 0.0093, -0.5303,
  ],
  line: [
    -1.4591, 0.0017, 1.2652, 0, -2.104, -1.7427, 0.3333, 1.4383, -0.0603, 0.966, 1.8605, 0.8574, 0.3134,
    -0.0595,
  ],
  piece: [
    -7.878, 1.2068, 0.8858, 1.3136, 0, -0.642, 0.9176, -0.6049, 0.257, -0.0219, 1.8382, -0.1339, 0.225,
    -0.0164, 0.4145, 0.2797, 0.4223, 0.6582, -0.1501, -2.2951, -0.062, 0.6701, -0.0765, 0.1207, -0.4301,
    0.3976,
  ],
}
