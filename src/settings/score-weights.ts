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
    'npm run fit: 34 sessions of 10 projects, 57907 names, 60941 lines and 10413 pieces at simulated boundaries; every third session held out',
  name: [
    -1.3256, -0.2353, -0.0267, 1.2053, -0.0111, 1.0915, -0.2525, -0.2651, 0.2034, -0.3566, -0.0502, -0.0419,
    0.1815, -1.2572, -1.566, -0.0854, 3.2891, -0.0448, -0.3661, -0.0864, 0.0298, -0.5505,
  ],
  line: [
    -1.6899, -0.2718, 1.1744, 0, -2.2601, -1.8432, 0.3199, 1.9334, 0.0016, 1.0372, 1.0314, 0.7687, 0.2474,
    -0.1165,
  ],
  piece: [
    -8.4553, 1.1673, 1.0252, 1.3305, 0, -0.586, 1.6434, -0.2119, -0.09, -0.3182, 0.6393, 0.2458, 0.1802,
    0.0134, 0.431, 0.0853, 0.2201, 0.6799, -0.0803, -2.3453, 0.0272, 0.7578, -0.1109, 0.1152, -0.4283, 0.5711,
  ],
}
