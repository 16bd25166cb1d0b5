// A list of any length of which only the rows in sight exist.
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Scroll } from './scroll.ts'

/** The row of names above the list, which stays while it moves; the stylesheet has the same. */
const headHeight = 24
/** Rows that are moved together. */
const stretchRows = 500

export interface VirtualListProps {
  readonly count: number
  readonly rowHeight: number
  readonly label: string
  /** The row that keys act on; -1 for none. */
  readonly active: number
  readonly columns: readonly string[]
  readonly id: string
  /** Changes when rows must be drawn anew though their count is the same. */
  readonly version?: unknown
  /** Stays at the end while rows come, when it was there. */
  readonly follows?: boolean
  readonly row: (at: number) => ComponentChildren
  onPress(at: number): void
  /** Rows that came into sight, to be loaded. */
  onSight?(from: number, to: number): void
}

export function VirtualList(props: VirtualListProps) {
  const { count, rowHeight, active, id } = props
  const box = useRef<HTMLDivElement>(null)
  const [scroll] = useState(() => new Scroll(count, rowHeight))
  const [, redraw] = useState(0)
  const draw = (): void => redraw((turn) => turn + 1)
  const wasAtEnd = scroll.isAtEnd
  scroll.count = count
  useMoves(box, scroll, props, wasAtEnd, draw)
  const [from, to] = scroll.inSight()
  useEffect(() => props.onSight?.(from, to), [from, to, props.version])
  const drawn = useRef<Drawn>({ version: undefined, anchor: 0, rows: new Map() })
  // A row stands where it stands in its stretch, and the stretch alone is moved: a scroll places no row anew.
  const anchor = from - (from % stretchRows)
  if (drawn.current.version !== props.version || drawn.current.anchor !== anchor)
    drawn.current = { version: props.version, anchor, rows: new Map() }
  const rows = rowsBetween(from, to, props, drawn.current)
  return (
    <div
      class="list"
      ref={box}
      role="grid"
      aria-label={props.label}
      aria-rowcount={count + 1}
      aria-colcount={props.columns.length}
      aria-activedescendant={active >= from && active < to ? `${id}-${active}` : undefined}
      tabIndex={0}
      onScroll={(event) => {
        if (scroll.scrolled(event.currentTarget)) draw()
      }}
      onClick={(event) => {
        const row = event.target instanceof Element ? event.target.closest('[data-row]') : null
        if (row instanceof HTMLElement) props.onPress(Number(row.dataset['row']))
      }}
    >
      <div class="head" role="row" aria-rowindex={1}>
        {props.columns.map((column, at) => (
          <span key={column} role="columnheader" class={`c${at}`}>
            {column}
          </span>
        ))}
      </div>
      <div class="rows" role="presentation" style={{ height: `${scroll.space}px` }}>
        <div role="rowgroup" style={{ transform: `translateY(${scroll.placeOf(anchor)}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  )
}

/** Rows as they were drawn last: one that is the same again is not even compared. */
interface Drawn {
  readonly version: unknown
  readonly anchor: number
  readonly rows: Map<number, DrawnRow>
}
interface DrawnRow {
  readonly isActive: boolean
  readonly content: ComponentChildren
  readonly element: VNode
}

function rowsBetween(
  from: number,
  to: number,
  { id, active, row, rowHeight }: VirtualListProps,
  { rows, anchor }: Drawn,
): readonly VNode[] {
  for (const at of rows.keys()) if (at < from || at >= to) rows.delete(at)
  const elements: VNode[] = []
  for (let at = from; at < to; at++) {
    const [isActive, known] = [at === active, rows.get(at)]
    if (known === undefined || known.isActive !== isActive) {
      const content = known?.content ?? row(at)
      const element = (
        <div
          key={at}
          id={`${id}-${at}`}
          role="row"
          aria-rowindex={at + 2}
          aria-selected={isActive}
          class={isActive ? 'row active' : 'row'}
          data-row={at}
          style={{ top: `${(at - anchor) * rowHeight}px`, height: `${rowHeight}px` }}
        >
          {content}
        </div>
      )
      rows.set(at, { isActive, content, element })
    }
    elements.push(rows.get(at)!.element)
  }
  return elements
}

/** Follows the size of the box, the end of a growing list, and the active row. */
function useMoves(
  box: { readonly current: HTMLDivElement | null },
  scroll: Scroll,
  { active, count, follows }: VirtualListProps,
  wasAtEnd: boolean,
  draw: () => void,
): void {
  useLayoutEffect(() => {
    const element = box.current!
    const watch = new ResizeObserver(() => {
      const stays = follows === true && scroll.isAtEnd
      scroll.view = element.clientHeight - headHeight
      if (stays) scroll.toEnd(element)
      draw()
    })
    scroll.view = element.clientHeight - headHeight
    if (follows === true) scroll.toEnd(element)
    watch.observe(element)
    draw()
    return () => watch.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (follows !== true || !wasAtEnd) return
    scroll.toEnd(box.current!)
    draw()
  }, [count])
  useLayoutEffect(() => {
    if (active < 0 || active >= count || !scroll.show(active)) return
    scroll.sync(box.current!)
    draw()
  }, [active])
}
