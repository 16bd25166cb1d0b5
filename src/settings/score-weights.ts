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
    'npm run fit: 34 sessions of 10 projects, 58368 names, 64903 lines and 10358 pieces at simulated boundaries; every third session held out',
  name: [
    -1.5341, -0.1985, -0.0535, 1.0193, -0.0119, 1.1613, -0.2216, -0.3972, 0.0938, -0.253, 0.0317, -0.0912,
    0.1333, -1.041, -1.7598, -0.0474, 3.9747, -0.0855, -0.357, -0.1157, 0.0102, -0.5303,
  ],
  line: [
    -1.4589, -0.0002, 1.2714, 0, -2.1046, -1.7426, 0.3331, 1.4374, -0.0597, 0.9669, 1.8626, 0.8597, 0.3138,
    -0.0609,
  ],
  piece: [
    -7.6204, 1.2026, 0.8519, 1.2743, 0, -0.6041, 1.019, -0.5578, 0.2477, -0.0747, 1.8541, -0.1377, 0.218,
    -0.0084, 0.454, 0.1262, 0.3875, 0.6112, -0.1729, -2.2921, -0.1758, 0.6233, -0.0228, 0.0808, -0.4509,
    0.5136,
  ],
}
