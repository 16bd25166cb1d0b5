// The strips under the chart, drawn by hand on one canvas that shares the chart's x-axis: where each prompt came from, what
// it cost, and marks of what happened.
import type { ChartData, MarkKind } from './chart-data.ts'

export interface StripScale {
  /** The x of a request number, in pixels of the canvas. */
  place(number: number): number
  readonly left: number
  readonly right: number
  readonly from: number
  readonly to: number
}

export const stripHeights = { cache: 14, cost: 30, marks: 18, gap: 6 } as const
export const stripsHeight = stripHeights.cache + stripHeights.cost + stripHeights.marks + 3 * stripHeights.gap

export type Colour = (name: string) => string

export function drawStrips(
  context: CanvasRenderingContext2D,
  data: ChartData,
  scale: StripScale,
  colour: Colour,
): void {
  const { gap, cache, cost } = stripHeights
  const columns = columnsOf(data, scale)
  drawCache(context, columns, gap, colour)
  drawCost(context, columns, gap + cache + gap, colour)
  const taken = new Set<string>()
  for (const { at, kind } of data.marks) {
    if (at < scale.from - 1 || at > scale.to + 1) continue
    const x = scale.place(at + 0.5)
    // Where several of a kind fall on one pixel, one of them is drawn.
    const pixel = `${kind} ${Math.round(x)}`
    if (taken.has(pixel)) continue
    taken.add(pixel)
    if (x >= scale.left - 6 && x <= scale.right + 6)
      drawMark(context, kind, x, gap * 3 + cache + cost + stripHeights.marks / 2 - 3, colour)
  }
}

interface Column {
  readonly x: number
  readonly width: number
  readonly read: number
  readonly written: number
  readonly input: number
  readonly dollars: number
  readonly isUnpriced: boolean
}

/** One column for each request, or for each pixel where there are more requests than pixels: sums, the highest cost. */
function columnsOf(data: ChartData, scale: StripScale): readonly Column[] {
  const columns: Column[] = []
  const first = lowerBound(data.x, scale.from - 1)
  for (let at = first; at < data.x.length && data.x[at]! <= scale.to; at++) {
    const x = Math.max(scale.left, scale.place(data.x[at]!))
    const end = Math.min(scale.right, scale.place(data.x[at]! + 1))
    if (end <= scale.left) continue
    const last = columns.at(-1)
    const one = {
      x,
      width: Math.max(1, end - x),
      read: data.read[at] ?? 0,
      written: data.written[at] ?? 0,
      input: data.input[at] ?? 0,
      dollars: data.dollars[at] ?? 0,
      isUnpriced: data.dollars[at] === null,
    }
    if (last === undefined || x >= last.x + 1) columns.push(one)
    else
      columns[columns.length - 1] = {
        ...last,
        width: Math.max(last.width, end - last.x),
        read: last.read + one.read,
        written: last.written + one.written,
        input: last.input + one.input,
        dollars: Math.max(last.dollars, one.dollars),
        isUnpriced: last.isUnpriced && one.isUnpriced,
      }
  }
  return columns
}

function drawCache(
  context: CanvasRenderingContext2D,
  columns: readonly Column[],
  top: number,
  colour: Colour,
): void {
  const [read, written, input, none] = [colour('read'), colour('written'), colour('input'), colour('soft')]
  for (const column of columns) {
    const all = column.read + column.written + column.input
    const width = Math.max(1, column.width - (column.width > 4 ? 1 : 0))
    if (all === 0) {
      context.fillStyle = none
      context.fillRect(column.x, top, width, stripHeights.cache)
      continue
    }
    let y = top + stripHeights.cache
    for (const [fill, tokens] of [
      [read, column.read],
      [written, column.written],
      [input, column.input],
    ] as const) {
      const height = (tokens / all) * stripHeights.cache
      y -= height
      context.fillStyle = fill
      context.fillRect(column.x, y, width, height)
    }
  }
}

function drawCost(
  context: CanvasRenderingContext2D,
  columns: readonly Column[],
  top: number,
  colour: Colour,
): void {
  const most = columns.reduce((high, { dollars }) => Math.max(high, dollars), 0)
  context.fillStyle = colour('cost')
  for (const { x, width, dollars } of columns) {
    if (most === 0 || dollars === 0) continue
    const height = Math.max(1, (dollars / most) * stripHeights.cost)
    context.fillRect(x, top + stripHeights.cost - height, Math.max(1, width - (width > 4 ? 1 : 0)), height)
  }
  context.fillStyle = colour('line')
  context.fillRect(
    columns[0]?.x ?? 0,
    top + stripHeights.cost,
    (columns.at(-1)?.x ?? 0) - (columns[0]?.x ?? 0),
    1,
  )
}

/** Each kind has a shape of its own, so that it is told apart without colour. */
function drawMark(
  context: CanvasRenderingContext2D,
  kind: MarkKind,
  x: number,
  y: number,
  colour: Colour,
): void {
  context.strokeStyle = context.fillStyle = colour(`mark-${kind}`)
  context.lineWidth = 1.5
  context.beginPath()
  if (kind === 'edit') {
    context.moveTo(x - 3.5, y - 3.5)
    context.lineTo(x + 3.5, y + 3.5)
    context.moveTo(x + 3.5, y - 3.5)
    context.lineTo(x - 3.5, y + 3.5)
    context.stroke()
  } else if (kind === 'compaction') {
    context.strokeRect(x - 4, y - 4, 8, 8)
    context.fillRect(x - 1.5, y - 1.5, 3, 3)
  } else if (kind === 'break') {
    context.moveTo(x + 1.5, y - 5.5)
    context.lineTo(x - 3, y + 1)
    context.lineTo(x, y + 1)
    context.lineTo(x - 1.5, y + 5.5)
    context.lineTo(x + 3, y - 1)
    context.lineTo(x, y - 1)
    context.closePath()
    context.fill()
  } else if (kind === 'agent') {
    context.moveTo(x, y - 4.5)
    context.lineTo(x + 4.5, y)
    context.lineTo(x, y + 4.5)
    context.lineTo(x - 4.5, y)
    context.closePath()
    context.stroke()
  } else context.fillRect(x - 2, y - 2, 4, 4)
}

export function lowerBound(values: readonly number[], wanted: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (values[middle]! < wanted) low = middle + 1
    else high = middle
  }
  return low
}
