// The frame of the page: the bar with the session's figures, the screens, what stands over them, and the keys.
import { Component, render, type ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type Address, fragmentOf, usualPolicies } from './data/address.ts'
import { keyFor } from './data/keys.ts'
import type { OpenSession } from './data/session.ts'
import { type PageState, StateContext, titleOf, usePage } from './data/state.ts'
import { Zoom } from './parts/chart.tsx'
import { Confirm } from './parts/confirm.tsx'
import { Find } from './parts/find.tsx'
import { GoTo, Help, Notices } from './parts/overlays.tsx'
import { AgentsScreen } from './screens/agents.tsx'
import { BlockScreen } from './screens/block.tsx'
import { BreaksScreen } from './screens/breaks.tsx'
import { EditScreen } from './screens/edit.tsx'
import { openEntry } from './screens/entry-list.tsx'
import { MemoryScreen } from './screens/memory.tsx'
import { PoliciesScreen } from './screens/policies.tsx'
import { RequestScreen } from './screens/request.tsx'
import { SessionsScreen } from './screens/sessions.tsx'
import { WindowScreen } from './screens/window.tsx'
import { counted, dollars, moment, short, whole } from './text/format.ts'
import { marked, Name, NameFact } from './text/shown-text.tsx'

/** Draws the page into a box, and begins. */
export function drawPage(state: PageState, box: HTMLElement): void {
  render(
    <StateContext.Provider value={state}>
      <App />
    </StateContext.Provider>,
    box,
  )
  void state.start()
}

function App() {
  const page = usePage()
  const [zoom] = useState(() => new Zoom())
  const address = page.address.value
  const open = 'session' in address ? page.session.value : null
  useEffect(() => {
    document.title = page.title.value
  }, [page.title.value])
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (page.overlay.value !== null || page.wish.value !== null || isWriting(event.target)) return
      if (event.key === 'Enter' && isPressable(event.target)) return
      const key = keyFor(event)
      if (key === null) return
      event.preventDefault()
      key.run({
        page,
        open: 'session' in page.address.value ? page.session.value : null,
        zoom,
        openEntry: (session, seq) => openEntry(page, session, seq),
        copy: (text) =>
          void navigator.clipboard.writeText(text).then(
            () => page.say('Link copied. It holds no token.'),
            () => page.say('The browser did not allow copying: take it from the address bar.'),
          ),
      })
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [])
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        to the content
      </a>
      <Bar open={open} />
      <Tabs open={open} />
      <Notices open={open} />
      <main id="main" tabIndex={-1}>
        <Boundary key={groupOf(address)}>
          <Screen open={open} address={address} zoom={zoom} />
        </Boundary>
      </main>
      <div class="toast" role="status" aria-live="polite">
        {page.said.value}
      </div>
      {page.overlay.value === 'help' && <Help />}
      {page.overlay.value === 'find' && open !== null && <Find open={open} />}
      {page.overlay.value === 'goto' && open !== null && <GoTo open={open} />}
      {page.wish.value !== null && open !== null && (
        <Confirm
          key={`${page.wish.value.verb} ${page.wish.value.target}`}
          open={open}
          wish={page.wish.value}
        />
      )}
    </>
  )
}

/** Addresses that share what is drawn: moving among them keeps the chart and the list as they are. */
function groupOf(address: Address): string {
  if (!('session' in address)) return address.screen
  const isApart = address.screen === 'agents' || address.screen === 'policies'
  return `${address.session} ${isApart ? address.screen : 'window'}`
}

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement ||
  target instanceof HTMLSelectElement ||
  target instanceof HTMLTextAreaElement
const isPressable = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('a, button, summary') !== null

function Screen({
  open,
  address,
  zoom,
}: {
  readonly open: OpenSession | null
  readonly address: Address
  readonly zoom: Zoom
}) {
  if (address.screen === 'memory') return <MemoryScreen store={address.store} file={address.file} />
  if (!('session' in address) || open === null) return <SessionsScreen />
  if (open.head.value === null) return open.problem.value === null ? <p class="waiting">Loading…</p> : null
  if (address.screen === 'agents') return <AgentsScreen open={open} />
  if (address.screen === 'policies')
    return <PoliciesScreen open={open} a={address.a} b={address.b} at={address.at} />
  const detail = <Detail open={open} address={address} />
  const hasDetail = address.screen !== 'window'
  return (
    <div class={hasDetail ? 'split has-detail' : 'split'}>
      <div class="master">
        <WindowScreen open={open} zoom={zoom} isNarrowed={hasDetail} />
      </div>
      {hasDetail && (
        <aside class="detail" aria-label="What is selected" tabIndex={0}>
          <a
            class="close"
            href={fragmentOf({ session: open.id, screen: 'window', from: null, to: null })}
            aria-label="close"
          >
            ×
          </a>
          <Boundary key={fragmentOf(address)}>{detail}</Boundary>
        </aside>
      )}
    </div>
  )
}

function Detail({ open, address }: { readonly open: OpenSession; readonly address: Address }) {
  if (address.screen === 'request')
    return <RequestScreen key={address.seq} open={open} seq={address.seq} look={address.look} />
  if (address.screen === 'block')
    return (
      <BlockScreen
        key={`${address.seq}/${address.block}`}
        open={open}
        seq={address.seq}
        block={address.block}
      />
    )
  if (address.screen === 'edit') return <EditScreen key={address.seq} open={open} seq={address.seq} />
  return address.screen === 'breaks' ? <BreaksScreen open={open} seq={address.seq} /> : null
}

function Bar({ open }: { readonly open: OpenSession | null }) {
  const page = usePage()
  const head = open?.head.value ?? null
  return (
    <header class="bar">
      <a class="brand" href="#/">
        pal inspect
      </a>
      {open !== null && (
        <>
          <h1>
            <Name of={titleOf(head, open.id)} />
          </h1>
          {head !== null && (
            <p class="facts">
              {head.models.length > 0 && <NameFact of={head.models.join(', ')} />}
              <span>{counted(head.requests, 'request')}</span>
              <span>{short(head.totals.read)} read</span>
              <span>
                <b>
                  {head.totals.unpriced > 0 && head.totals.dollars === 0 ? '?' : dollars(head.totals.dollars)}
                </b>
                {head.forks.dollars > 0 && ` + ${dollars(head.forks.dollars)} in forks`}
                {head.totals.estimated > 0 && `, ${counted(head.totals.estimated, 'answer')} counted by size`}
              </span>
              <Live open={open} />
            </p>
          )}
        </>
      )}
      {open === null && (
        <h1 class="quiet">{page.address.value.screen === 'memory' ? 'Memory' : 'Sessions'}</h1>
      )}
      <span class="tools">
        {open !== null && (
          <button type="button" onClick={() => void (page.overlay.value = 'find')}>
            find <kbd>/</kbd>
          </button>
        )}
        <button type="button" aria-label="keys" onClick={() => void (page.overlay.value = 'help')}>
          <kbd>?</kbd>
        </button>
      </span>
    </header>
  )
}

function Live({ open }: { readonly open: OpenSession }) {
  const page = usePage()
  const exported = page.about.value?.exported
  if (exported !== undefined)
    return (
      <span>
        exported {moment(exported.at)}
        {exported.isRedacted ? `, ${counted(exported.secrets, 'secret')} redacted` : ', as it is'}
      </span>
    )
  const owner = open.head.value?.owner ?? null
  if (!open.isFollowed.value) return <span class="dim">not connected</span>
  return owner === null ? (
    <span>
      <span class="dot" aria-hidden="true" />
      at rest
    </span>
  ) : (
    <span class="on" title={owner}>
      <span class="dot live" aria-hidden="true" />
      live
    </span>
  )
}

function Tabs({ open }: { readonly open: OpenSession | null }) {
  const page = usePage()
  const { screen } = page.address.value
  const session = open?.id ?? ''
  const head = open?.head.value ?? null
  const isStatic = page.source.isStatic
  const details = ['window', 'request', 'block', 'edit']
  const tabs: readonly (readonly [name: string, to: Address, isHere: boolean, count?: number])[] = [
    ...(open === null
      ? []
      : ([
          ['Window', { session, screen: 'window', from: null, to: null }, details.includes(screen)],
          ['Breaks', { session, screen: 'breaks', seq: null }, screen === 'breaks', head?.breaks],
          ['Agents', { session, screen: 'agents' }, screen === 'agents'],
          ...(isStatic
            ? []
            : ([
                [
                  'Policies',
                  { session, screen: 'policies', ...usualPolicies, at: null },
                  screen === 'policies',
                ],
              ] as const)),
        ] as const)),
    ...(isStatic
      ? []
      : ([['Memory', { screen: 'memory', store: null, file: null }, screen === 'memory']] as const)),
    ['Sessions', { screen: 'sessions' }, screen === 'sessions'],
  ]
  return (
    <nav class="tabs" aria-label="Screens">
      {tabs.map(([name, to, isHere, count]) => (
        <a key={name} href={fragmentOf(to)} aria-current={isHere ? 'page' : undefined}>
          {name}
          {count !== undefined && count > 0 && <span class="count">{whole(count)}</span>}
        </a>
      ))}
    </nav>
  )
}

// A part that cannot be drawn says so and leaves the rest of the page as it is.
interface Props {
  readonly children: ComponentChildren
}

class Boundary extends Component<Props, { readonly problem: string | null }> {
  override state = { problem: null }

  override componentDidCatch(error: unknown): void {
    this.setState({ problem: error instanceof Error ? error.message : String(error) })
  }

  override render() {
    const { problem } = this.state
    if (problem === null) return this.props.children
    return (
      <p class="problem" role="alert">
        This could not be shown ({marked(problem)}). The raw entry is in the list.
      </p>
    )
  }
}
