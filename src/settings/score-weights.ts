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
    'npm run fit: 34 sessions of 10 projects, 58378 names and 64904 lines at simulated boundaries; every third session held out',
  name: [
    -1.5446, -0.1987, -0.0602, 1.0205, -0.0136, 1.1686, -0.2127, -0.386, 0.0462, -0.2341, 0.036, -0.0814,
    0.1633, -1.0366, -1.7619, -0.0446, 3.9431, -0.0897, -0.3647, -0.1165, 0.0089, -0.5238,
  ],
  line: [
    -1.4589, 0.0016, 1.2652, 0, -2.1038, -1.7428, 0.3333, 1.4383, -0.0604, 0.9659, 1.8604, 0.8575, 0.3134,
    -0.0595,
  ],
}
