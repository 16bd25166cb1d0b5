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
    'npm run fit: 34 sessions of 10 projects, 58378 names, 64904 lines and 10192 pieces at simulated boundaries; every third session held out',
  name: [
    -1.5446, -0.1987, -0.0602, 1.0205, -0.0136, 1.1686, -0.2127, -0.386, 0.0462, -0.2341, 0.036, -0.0814,
    0.1633, -1.0366, -1.7619, -0.0446, 3.9431, -0.0897, -0.3647, -0.1165, 0.0089, -0.5238,
  ],
  line: [
    -1.4589, 0.0016, 1.2652, 0, -2.1038, -1.7428, 0.3333, 1.4383, -0.0604, 0.9659, 1.8604, 0.8575, 0.3134,
    -0.0595,
  ],
  piece: [
    -5.8673, 1.32, 0.7586, 1.5734, 0, -0.6489, 1.4543, -0.6065, 0.2719, -0.0487, 1.4923, -0.0437, 0.0751,
    0.046, 0.3587, 0.076, 0.5575, 0.2236, -0.1831, -1.9942, 0.2791, 0.5531, -0.1436, 0.1066,
  ],
}
