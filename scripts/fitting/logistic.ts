// Logistic regression by Newton's method, with a small ridge: a few dozen weights, exact and the same each time.

/** Rows one after the other: the features, whether it came true (0 or 1), and how much the row counts. */
export interface Rows {
  readonly width: number
  readonly values: readonly Float64Array[]
}

export function fitLogistic({ width, values }: Rows, ridge: number, rounds: number): readonly number[] {
  let weights = new Float64Array(width)
  for (let round = 0; round < rounds; round++) {
    const slope = new Float64Array(width)
    const bend = new Float64Array(width * width)
    for (const block of values) addBlock(block, width, weights, slope, bend)
    for (let at = 0; at < width; at++) {
      // The first is always 1 and carries the average: it is not held back.
      if (at > 0) slope[at]! -= ridge * weights[at]!
      bend[at * width + at]! += at > 0 ? ridge : small
    }
    const step = solve(bend, slope, width)
    weights = weights.map((weight, at) => weight + step[at]!)
    if (Math.max(...step.map(Math.abs)) < small) break
  }
  return [...weights]
}

const small = 1e-6

function addBlock(
  block: Float64Array,
  width: number,
  weights: Float64Array,
  slope: Float64Array,
  bend: Float64Array,
): void {
  const row = width + 2
  for (let start = 0; start < block.length; start += row) {
    let sum = 0
    for (let at = 0; at < width; at++) sum += block[start + at]! * weights[at]!
    const chance = 1 / (1 + Math.exp(-sum))
    const counts = block[start + width + 1]!
    const miss = counts * (block[start + width]! - chance)
    const curve = counts * chance * (1 - chance)
    for (let at = 0; at < width; at++) {
      const value = block[start + at]!
      if (value === 0) continue
      slope[at]! += miss * value
      const bent = curve * value
      for (let other = 0; other <= at; other++) bend[at * width + other]! += bent * block[start + other]!
    }
  }
}

/** Cholesky, of a matrix whose lower half is given. */
function solve(matrix: Float64Array, right: Float64Array, size: number): Float64Array {
  const lower = new Float64Array(size * size)
  for (let row = 0; row < size; row++)
    for (let column = 0; column <= row; column++) {
      let sum = matrix[row * size + column]!
      for (let inner = 0; inner < column; inner++)
        sum -= lower[row * size + inner]! * lower[column * size + inner]!
      lower[row * size + column] =
        row === column ? Math.sqrt(Math.max(sum, small)) : sum / lower[column * size + column]!
    }
  const half = new Float64Array(size)
  for (let row = 0; row < size; row++) {
    let sum = right[row]!
    for (let inner = 0; inner < row; inner++) sum -= lower[row * size + inner]! * half[inner]!
    half[row] = sum / lower[row * size + row]!
  }
  const found = new Float64Array(size)
  for (let row = size - 1; row >= 0; row--) {
    let sum = half[row]!
    for (let inner = row + 1; inner < size; inner++) sum -= lower[inner * size + row]! * found[inner]!
    found[row] = sum / lower[row * size + row]!
  }
  return found
}
