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
    'npm run fit: 34 sessions of 10 projects, 58216 names, 63513 lines and 10413 pieces at simulated boundaries; every third session held out',
  name: [
    -1.6221, -0.2087, -0.036, 1.0331, -0.0087, 1.0748, -0.2284, -0.3979, 0.105, -0.2523, 0.0244, -0.137,
    0.1483, -1.0381, -1.5771, -0.0205, 3.9759, -0.0706, -0.266, -0.1115, 0.0101, -0.5358,
  ],
  line: [
    -0.8874, -0.2483, 1.1624, 0, -2.1933, -1.804, 0.3163, 1.6076, -0.0072, 1.0688, 1.2632, 0.7513, 0.2968,
    -0.111,
  ],
  piece: [
    -8.4472, 1.1557, 1.0259, 1.3433, 0, -0.5909, 1.6315, -0.2096, -0.0872, -0.3175, 0.661, 0.2443, 0.1812,
    0.0153, 0.4371, 0.092, 0.1641, 0.696, -0.0908, -2.3578, 0.0327, 0.7593, -0.1124, 0.1185, -0.4224, 0.5738,
  ],
}
