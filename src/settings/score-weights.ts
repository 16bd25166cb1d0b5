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
    'npm run fit: 34 sessions of 10 projects, 58216 names, 63513 lines and 10412 pieces at simulated boundaries; every third session held out',
  name: [
    -1.6191, -0.2081, -0.0359, 1.0282, -0.0076, 1.0748, -0.227, -0.3995, 0.1065, -0.252, 0.0248, -0.1354,
    0.1486, -1.0392, -1.5756, -0.0206, 3.9726, -0.0706, -0.267, -0.1128, 0.0127, -0.5364,
  ],
  line: [
    -0.8832, -0.2427, 1.151, 0, -2.2043, -1.7976, 0.3383, 1.6192, -0.006, 1.0631, 1.2571, 0.7417, 0.2937,
    -0.1159,
  ],
  piece: [
    -8.4181, 1.1586, 1.0603, 1.3485, 0, -0.5962, 1.6186, -0.2106, -0.0766, -0.3172, 0.6806, 0.2399, 0.1769,
    0.0152, 0.4262, 0.1172, 0.1501, 0.7028, -0.1008, -2.3583, 0.0134, 0.7714, -0.1154, 0.1199, -0.4461,
    0.6045,
  ],
}
