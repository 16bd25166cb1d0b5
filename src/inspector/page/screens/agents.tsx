// Screen A: who started whom, what each is at, what it cost alone and with all below it.
import type { AgentNode, AgentTree } from '../../protocol.ts'
import { fragmentOf } from '../data/address.ts'
import type { OpenSession } from '../data/session.ts'
import { Shown, useAsked } from '../parts/asked.tsx'
import { clock, dollars, duration, short } from '../text/format.ts'
import { Name, ShownText, NameFact } from '../text/shown-text.tsx'

export function AgentsScreen({ open }: { readonly open: OpenSession }) {
  const asked = useAsked<AgentTree>(`${open.path}/agents`, open.head.value?.head)
  return (
    <article class="agents">
      <h2>Agents</h2>
      <Shown asked={asked}>
        {({ root }) => (
          <>
            {root.children.length === 0 && <p class="empty">This session has started no agent.</p>}
            <ul class="tree">
              <Node node={root} open={open} depth={0} />
            </ul>
          </>
        )}
      </Shown>
    </article>
  )
}

function Node({
  node,
  open,
  depth,
}: {
  readonly node: AgentNode
  readonly open: OpenSession
  readonly depth: number
}) {
  const { startedAt, endedAt } = node
  const label = node.label === '' ? node.session : node.label
  return (
    <li>
      <div class={`agent st-${node.state}`}>
        <p class="facts">
          {node.isHere && node.session !== open.id ? (
            <a href={fragmentOf({ session: node.session, screen: 'window', from: null, to: null })}>
              <Name of={label} />
            </a>
          ) : (
            <b>
              <Name of={label} />
            </b>
          )}
          <NameFact of={node.agent} />
          {node.mode !== '' && <NameFact of={node.mode} />}
          <span class={node.state === 'failed' ? 'bad' : node.state === 'running' ? 'on' : ''}>
            {node.state}
          </span>
          {node.totals !== null && (
            <span>
              {short(node.totals.input + node.totals.read + node.totals.written)} in,{' '}
              {short(node.totals.output)} out
            </span>
          )}
          <span>
            own <b>{node.totals === null ? '?' : dollars(node.totals.dollars)}</b>
          </span>
          {node.children.length > 0 && (
            <span>
              with children <b>{dollars(node.dollarsWithChildren)}</b>
            </span>
          )}
          {startedAt !== null && <span>{clock(startedAt.at)}</span>}
          {startedAt !== null && endedAt !== null && <span>{duration(endedAt.at - startedAt.at)}</span>}
          {!node.isHere && <span class="dim">its transcript is not in this store</span>}
        </p>
        {node.worktree !== null && (
          <p class="dim">
            worktree <Name of={node.worktree.path} /> on <Name of={node.worktree.branch} />
          </p>
        )}
        {node.report !== null && node.report !== '' && (
          <details>
            <summary>Report</summary>
            <ShownText text={node.report} />
          </details>
        )}
      </div>
      {node.children.length > 0 && (
        <ul>
          {node.children.map((child) => (
            <Node key={child.session} node={child} open={open} depth={depth + 1} />
          ))}
        </ul>
      )}
    </li>
  )
}
