// The window over time: tokens by holder stacked over request numbers, with its strips below. Dragging selects a span,
// a click opens the request under it; every number in the picture is also in the list of requests.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { short } from '../text/format.ts'
import { rowFrom, stacked, stackOrder, type ChartData, type Mark } from './chart-data.ts'
import { drawStrips, stripHeights, stripsHeight, type Colour } from './strips.ts'

export interface ChartProps {
  readonly data: ChartData
  readonly label: string
  /** Request numbers that are selected. */
  readonly selected: readonly [from: number, to: number] | null
  readonly height: number
  /** The highest value that its axis has room for, where charts are compared; its own by itself. */
  readonly top?: number | undefined
  /** Charts with one key share what they show of the x-axis. */
  readonly zoom: Zoom
  onSelect(from: number, to: number): void
  onOpen(number: number): void
  onHover(index: number | null): void
  onMark(mark: Mark): void
}

/** The part of the x-axis in sight; null for all of it. Those who show it are told when it moves. */
export class Zoom {
  range: readonly [from: number, to: number] | null = null
  readonly #watchers = new Set<() => void>()

  set(range: readonly [number, number] | null): void {
    this.range = range
    for (const watcher of this.#watchers) watcher()
  }

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  /** Closer or wider around the middle, or to one side, by a share of what is seen. */
  move(by: { readonly zoom?: number; readonly pan?: number }, all: readonly [number, number]): void {
    const [from, to] = this.range ?? all
    const width = Math.max(4, (to - from) * (by.zoom ?? 1))
    const middle = (from + to) / 2 + (to - from) * (by.pan ?? 0)
    const low = Math.max(all[0], Math.min(middle - width / 2, all[1] - width))
    const high = Math.min(all[1], low + width)
    this.set(low <= all[0] && high >= all[1] ? null : [low, high])
  }
}

/** Pixels left of the picture, for the axis. */
const axisWidth = 48

export function Chart(props: ChartProps) {
  const { data, height, label } = props
  const box = useRef<HTMLDivElement>(null)
  const strips = useRef<HTMLCanvasElement>(null)
  const latest = useRef(props)
  const shown = useRef(data)
  latest.current = props
  const [plot, setPlot] = useState<uPlot | null>(null)
  useLayoutEffect(() => {
    const element = box.current!
    const made = new uPlot(
      optionsFor(latest, element, () => paint(made, strips.current!, latest.current.data, colourOf(element))),
      stacked(latest.current.data, shownRange(latest.current)) as uPlot.AlignedData,
      element,
    )
    const watch = new ResizeObserver(() => {
      if (element.clientWidth !== made.width) made.setSize({ width: element.clientWidth, height })
    })
    watch.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const recolour = (): void => made.redraw(false)
    scheme.addEventListener('change', recolour)
    setPlot(made)
    return () => {
      watch.disconnect()
      scheme.removeEventListener('change', recolour)
      made.destroy()
    }
  }, [])
  useEffect(() => {
    if (plot === null) return
    // What it was made with is drawn already.
    if (shown.current !== data) {
      shown.current = data
      show(plot, props)
    }
    const unwatch = props.zoom.watch(() => show(plot, latest.current))
    return unwatch
  }, [plot, data])
  useEffect(() => {
    if (plot !== null) select(plot, props.selected)
  }, [plot, data, props.selected?.[0], props.selected?.[1]])
  return (
    <div class="chart">
      <div ref={box} class="plot" role="img" aria-label={label} />
      <canvas
        ref={strips}
        class="strips"
        role="img"
        aria-label="Where each prompt came from, what it cost, and marks; the same is in the list of requests."
        onClick={(event) => {
          const mark = plot === null ? null : markAt(plot, latest.current.data, event.offsetX)
          if (mark !== null) props.onMark(mark)
        }}
      />
      <div class="strip-names dim" aria-hidden="true">
        <span>cache</span>
        <span>cost</span>
        <span>marks</span>
      </div>
    </div>
  )
}

function optionsFor(
  latest: { readonly current: ChartProps },
  element: HTMLElement,
  drawn: () => void,
): uPlot.Options {
  const colour = colourOf(element)
  const stepped = uPlot.paths.stepped!({ align: 1 })
  const numberAt = (plot: uPlot, pixel: number): number => Math.floor(plot.posToVal(pixel, 'x'))
  return {
    width: Math.max(200, element.clientWidth),
    height: latest.current.height,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: {
      points: { show: false },
      y: false,
      drag: { x: true, y: false, setScale: false, dist: 4 },
      bind: {
        click: (plot, _, handler) => (event) => {
          handler(event)
          if (plot.select.width < 4) latest.current.onOpen(numberAt(plot, plot.cursor.left ?? 0))
          return null
        },
      },
    },
    scales: {
      x: { time: false },
      y: { range: (_, __, most) => [0, Math.max(10, (latest.current.top ?? most) * 1.05)] },
    },
    axes: [
      {
        stroke: () => colour('dim'),
        grid: { show: false },
        ticks: { stroke: () => colour('line'), size: 4 },
        size: 22,
        font: '11px system-ui, sans-serif',
        values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? `#${tick}` : '')),
      },
      {
        stroke: () => colour('dim'),
        grid: { stroke: () => colour('line'), width: 1 },
        ticks: { show: false },
        size: axisWidth,
        font: '11px system-ui, sans-serif',
        values: (_, ticks) => ticks.map(short),
      },
    ],
    series: [
      {},
      ...[...stackOrder].reverse().map((holder) => ({
        label: holder,
        fill: () => colour(holder),
        width: 0,
        points: { show: false },
        paths: stepped,
      })),
    ],
    hooks: {
      draw: [(plot) => drawLimit(plot, latest.current.data.limit, colour), drawn],
      setCursor: [(plot) => latest.current.onHover(hoveredIn(plot, latest.current.data))],
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return
          const from = numberAt(plot, plot.select.left)
          const to = numberAt(plot, plot.select.left + plot.select.width)
          latest.current.onSelect(from, to)
        },
      ],
    },
  }
}

/** The names of colours stand in the stylesheet, so that both themes have them. */
const colourOf = (element: HTMLElement): Colour => {
  const style = getComputedStyle(element)
  return (name) => style.getPropertyValue(`--${name}`).trim() || '#888'
}

/** Each name is looked up once for one drawing. */
function remembered(colour: Colour): Colour {
  const known = new Map<string, string>()
  return (name) => {
    const value = known.get(name) ?? colour(name)
    known.set(name, value)
    return value
  }
}

function hoveredIn(plot: uPlot, { rows }: ChartData): number | null {
  const { left } = plot.cursor
  if (left === undefined || left < 0 || rows.length === 0) return null
  return Math.min(rows.length - 1, rowFrom(rows, Math.floor(plot.posToVal(left, 'x'))))
}

function shownRange({ zoom, data: { rows } }: Pick<ChartProps, 'zoom' | 'data'>): readonly [number, number] {
  return zoom.range ?? (rows.length === 0 ? [0, 1] : [rows[0]!.number, rows.at(-1)!.number + 1])
}

function show(plot: uPlot, props: ChartProps): void {
  const [min, max] = shownRange(props)
  plot.batch(() => {
    plot.setData(stacked(props.data, [min, max]) as uPlot.AlignedData, false)
    plot.setScale('x', { min, max })
  })
}

function select(plot: uPlot, range: readonly [number, number] | null): void {
  if (range === null) {
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
    return
  }
  const left = plot.valToPos(range[0], 'x')
  const width = Math.max(2, plot.valToPos(range[1] + 1, 'x') - left)
  plot.setSelect({ left, top: 0, width, height: plot.over.clientHeight }, false)
}

function drawLimit(plot: uPlot, limit: number | null, colour: Colour): void {
  const { ctx, bbox } = plot
  const top = plot.scales['y']!.max ?? 0
  if (limit === null || limit > top) return
  const y = Math.round(plot.valToPos(limit, 'y', true))
  ctx.save()
  ctx.strokeStyle = colour('accent')
  ctx.setLineDash([4, 4])
  ctx.beginPath()
  ctx.moveTo(bbox.left, y)
  ctx.lineTo(bbox.left + bbox.width, y)
  ctx.stroke()
  ctx.restore()
}

function paint(plot: uPlot, canvas: HTMLCanvasElement, data: ChartData, colour: Colour): void {
  const ratio = devicePixelRatio
  const width = plot.width
  canvas.width = Math.round(width * ratio)
  canvas.height = Math.round(stripsHeight * ratio)
  canvas.style.width = `${width}px`
  canvas.style.height = `${stripsHeight}px`
  const context = canvas.getContext('2d')
  if (context === null) return
  context.scale(ratio, ratio)
  const left = plot.bbox.left / ratio
  const { min, max } = plot.scales['x']!
  drawStrips(
    context,
    data,
    {
      left,
      right: left + plot.bbox.width / ratio,
      from: min ?? 0,
      to: max ?? 0,
    },
    remembered(colour),
  )
}

/** The nearest mark to a place on the strips. */
function markAt(plot: uPlot, { marks }: ChartData, pixel: number): Mark | null {
  const left = plot.bbox.left / devicePixelRatio
  const near = marks
    .map((mark) => ({ mark, far: Math.abs(left + plot.valToPos(mark.at + 0.5, 'x') - pixel) }))
    .filter(({ far }) => far <= stripHeights.marks / 2)
  return near.sort((a, b) => a.far - b.far)[0]?.mark ?? null
}
