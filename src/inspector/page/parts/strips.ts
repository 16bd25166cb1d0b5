// The strips under the chart, drawn by hand on one canvas that shares the chart's x-axis: where each prompt came from, what
// it cost, and marks of what happened.
import { rowFrom, type ChartData, type MarkKind } from './chart-data.ts'

/** From where to where, in request numbers and in pixels of the canvas. */
export interface StripScale {
  readonly left: number
  readonly right: number
  readonly from: number
  readonly to: number
}

const placesIn = ({ left, right, from, to }: StripScale): ((number: number) => number) => {
  const each = (right - left) / Math.max(1, to - from)
  return (number) => left + (number - from) * each
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
  const place = placesIn(scale)
  const taken = new Set<number>()
  for (const { at, kind } of data.marks) {
    if (at < scale.from - 1 || at > scale.to + 1) continue
    const x = place(at + 0.5)
    // Where several of a kind fall on one pixel, one of them is drawn.
    const pixel = Math.round(x) * markKinds.length + markKinds.indexOf(kind)
    if (taken.has(pixel)) continue
    taken.add(pixel)
    if (x >= scale.left - 6 && x <= scale.right + 6)
      drawMark(context, kind, x, gap * 3 + cache + cost + stripHeights.marks / 2 - 3, colour)
  }
}
const markKinds: readonly MarkKind[] = ['edit', 'compaction', 'break', 'agent', 'input']

interface Column {
  readonly x: number
  width: number
  read: number
  written: number
  input: number
  dollars: number
}

/** One column for each request, or for each pixel where there are more requests than pixels: sums, the highest cost. */
function columnsOf({ rows }: ChartData, scale: StripScale): readonly Column[] {
  const columns: Column[] = []
  const place = placesIn(scale)
  let last: Column | undefined
  for (let at = rowFrom(rows, scale.from - 1); at < rows.length && rows[at]!.number <= scale.to; at++) {
    const row = rows[at]!
    const x = Math.max(scale.left, place(row.number))
    const end = Math.min(scale.right, place(row.number + 1))
    if (end <= scale.left) continue
    if (last === undefined || x >= last.x + 1) {
      last = { x, width: 1, read: 0, written: 0, input: 0, dollars: 0 }
      columns.push(last)
    }
    last.width = Math.max(last.width, end - last.x)
    last.read += row.read ?? 0
    last.written += row.written ?? 0
    last.input += row.input ?? 0
    last.dollars = Math.max(last.dollars, row.dollars ?? 0)
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
