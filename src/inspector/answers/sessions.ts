// Sessions and what is known of each at once: heads, breaks, and the tree of agents.
import { describeDiagnosis, disagreement } from '../../request/diagnosis.ts'
import type { SessionIndex } from '../indexing/index-builder.ts'
import type { AgentFact } from '../indexing/index-rows.ts'
import { causeText, messageIn } from '../requests/difference.ts'
import type { AgentNode, BreakRow, SessionHead, SessionRow, Totals } from '../protocol.ts'
import { tokensOf } from './chunks.ts'

/** What a row is made of: also of a session whose beginning alone was read. */
type Counted = Pick<SessionIndex, 'lists' | 'requests'>

export interface Listed {
  readonly bytes: number
  readonly modifiedAt: number
  readonly owner: SessionRow['owner']
}

export function headOf(index: SessionIndex, listed: Listed): SessionHead {
  const { lists, requests } = index
  const models = lists.models
    .map((model, at) => ({ model, answers: lists.modelAnswers[at] ?? 0 }))
    .toSorted((a, b) => b.answers - a.answers)
  return {
    ...rowOf(index, listed),
    first: lists.first,
    head: lists.head,
    totals: { ...lists.totals },
    forks: { ...lists.spent },
    requests: requests.length,
    edits: index.editList.rows().length,
    breaks: lists.breaks.length,
    models: models.map(({ model }) => model),
    parent: lists.parent,
    readOnlyFrom: lists.readOnlyFrom,
  }
}

export function rowOf(index: Counted, { bytes, modifiedAt, owner }: Listed): SessionRow {
  const { lists, requests } = index
  const last = requests.length - 1
  const broken = lists.breaks.at(-1)
  return {
    session: lists.session,
    kind: lists.imported?.startsWith(gatewayPrefix) === true ? 'gateway' : 'own',
    title: lists.title,
    purpose: lists.purpose,
    startedBy: lists.startedBy,
    cwd: lists.cwd,
    bytes,
    modifiedAt,
    owner,
    damage: lists.damage[0] ?? null,
    figures: { ...lists.totals },
    window: last < 0 ? null : { tokens: tokensOf(index, last), limit: requests.get(last, 'limit') },
    lastBreak: broken === undefined ? null : { seq: broken.seq, at: broken.at, tokens: broken.tokens },
  }
}

/** How sessions of other agents name where they come from. */
const gatewayPrefix = 'gateway'

/** The most expensive first. */
export const breaksOf = ({ lists }: SessionIndex): readonly BreakRow[] =>
  lists.breaks
    .map(({ cost, causes, provider, providerTokens, ...rest }) => ({
      ...rest,
      dollars: cost,
      causes: causes.map(causeText),
      isAnnounced: causes.some((cause) => kindOf(cause) === 'announced'),
      ...messageIn(causes),
      provider:
        provider === null
          ? null
          : describeDiagnosis({ reason: provider, tokens: providerTokens ?? undefined }),
      differs: provider === null ? null : disagreement(causes, provider),
    }))
    .toSorted((a, b) => b.dollars - a.dollars || b.tokens - a.tokens)

const kindOf = (cause: unknown): unknown =>
  typeof cause === 'object' && cause !== null && 'kind' in cause ? cause.kind : null

/** `indexOf` gives the index of a session that lies here, or null. */
export async function agentTree(
  index: SessionIndex,
  indexOf: (session: string) => Promise<SessionIndex | null>,
): Promise<AgentNode> {
  const root = rootOf(index)
  return { ...root, ...(await below(index, indexOf, new Set([index.lists.session]))) }
}

function rootOf({ lists }: SessionIndex): Omit<AgentNode, 'children' | 'dollarsWithChildren'> {
  return {
    session: lists.session,
    isHere: true,
    label: lists.title,
    agent: lists.purpose,
    mode: '',
    state: 'unknown',
    startedAt: null,
    endedAt: null,
    totals: { ...lists.totals },
    worktree: null,
    report: null,
  }
}

async function below(
  index: SessionIndex,
  indexOf: (session: string) => Promise<SessionIndex | null>,
  met: Set<string>,
): Promise<Pick<AgentNode, 'children' | 'dollarsWithChildren'>> {
  const children: AgentNode[] = []
  for (const agent of index.lists.agents) {
    const isNew = !met.has(agent.child)
    met.add(agent.child)
    const own = isNew ? await indexOf(agent.child) : null
    const inner =
      own === null ? { children: [], dollarsWithChildren: agent.dollars } : await below(own, indexOf, met)
    children.push({
      session: agent.child,
      isHere: own !== null,
      label: agent.label,
      agent: agent.agent,
      mode: agent.mode,
      state: stateOf(agent.outcome, agent.started !== null),
      startedAt: agent.started,
      endedAt: agent.ended,
      totals: own === null ? reportedTotals(agent) : { ...own.lists.totals },
      worktree: agent.worktree,
      report: agent.report === '' ? null : agent.report,
      ...inner,
    })
  }
  const own = index.lists.totals.dollars
  return {
    children,
    dollarsWithChildren: own + children.reduce((sum, child) => sum + child.dollarsWithChildren, 0),
  }
}

function stateOf(outcome: string | null, isStarted: boolean): AgentNode['state'] {
  if (outcome === 'done' || outcome === 'aborted' || outcome === 'failed') return outcome
  return isStarted ? 'running' : 'unknown'
}

/** Its parent was told one sum of tokens. */
const reportedTotals = ({ tokens, dollars }: Pick<AgentFact, 'tokens' | 'dollars'>): Totals | null =>
  tokens === 0 && dollars === 0
    ? null
    : { requests: 0, input: tokens, read: 0, written: 0, output: 0, dollars, unpriced: 0, estimated: 0 }
