// The order of messages: nothing empty, neighbours of one role are one message, system messages where they may stand,
// a user first and a user last.
import type { WireBlock } from '../../../model/wire.ts'
import {
  blockText,
  continueText,
  emptyUser,
  isBlank,
  isReasoningType,
  isServerResult,
  isToolChange,
  noAnswer,
  opening,
} from '../block-rules.ts'
import {
  changed,
  newUserDraft,
  messagePath,
  note,
  draftPlace,
  withBlocks,
  type Draft,
  type RepairLog,
} from './draft.ts'

/** Without empty texts, empty answers and split messages. An empty user message waits: it may still be merged. */
export function joinMessages(drafts: readonly Draft[], log: RepairLog): readonly Draft[] {
  const stripped = drafts.map((draft) => withoutBlankText(draft, log))
  const present = stripped.filter((draft) => {
    if (draft.blocks.length > 0 || draft.role === 'user') return true
    note(log, 'empty-message', messagePath(draft), `an empty ${draft.role} message left out`)
    return false
  })
  return merged(systemPlaced(merged(present, log), log), log)
}

function withoutBlankText(draft: Draft, log: RepairLog): Draft {
  const kept = draft.blocks.filter((block) => {
    if (block.type !== 'text' || !isBlank(blockText(block) ?? '')) return true
    note(log, 'empty-text', draftPlace(log, block, draft), 'left out: a text without a visible character')
    return false
  })
  return withBlocks(draft, kept)
}

function merged(drafts: readonly Draft[], log: RepairLog): readonly Draft[] {
  const out: Draft[] = []
  let run: Draft[] = []
  const close = (): void => {
    const first = run[0]
    if (first === undefined) return
    if (run.length === 1) out.push(first)
    else {
      note(log, 'same-role', messagePath(first), `${run.length} ${first.role} messages in a row merged`)
      const extra = Object.assign({}, ...run.map((draft) => draft.extra)) as Draft['extra']
      out.push({ ...first, blocks: run.flatMap((draft) => draft.blocks), extra, untouched: null })
    }
    run = []
  }
  for (const draft of drafts) {
    if (run.length > 0 && run[0]?.role !== draft.role) close()
    run.push(draft)
  }
  close()
  return out
}

/** A system message stands behind a user message (or a server tool's result) and before an answer or the end. */
function systemPlaced(drafts: readonly Draft[], log: RepairLog): readonly Draft[] {
  return drafts.map((draft, index) => {
    if (draft.role !== 'system') return draft
    const before = drafts[index - 1]
    const after = drafts[index + 1]
    const follows =
      before?.role === 'user' ||
      (before?.role === 'assistant' && isServerResult(before.blocks.at(-1)?.type ?? ''))
    if (follows && (after === undefined || after.role === 'assistant')) return draft
    note(
      log,
      'system-place',
      messagePath(draft),
      'a system message became a user message: it cannot stand here as one',
    )
    return newUserDraft(
      draft.at,
      draft.blocks.filter((block) => !isToolChange(block.type)),
    )
  })
}

/** Last words on each message: none empty, none ending in reasoning. */
export function fillMessage(draft: Draft, log: RepairLog): Draft {
  if (draft.blocks.length === 0) {
    note(log, 'empty-message', messagePath(draft), 'an empty user message was given a placeholder')
    return withBlocks(draft, [{ type: 'text', text: emptyUser }])
  }
  if (draft.role !== 'assistant' || !isReasoningType(draft.blocks.at(-1)?.type ?? '')) return draft
  note(
    log,
    'reasoning-last',
    messagePath(draft),
    'a message that ended in reasoning was given a closing text',
  )
  return withBlocks(draft, [...draft.blocks, { type: 'text', text: noAnswer }])
}

/** A user speaks first (a compaction block may stand in for one) and, unless an answer is to be continued, last. */
export function boundMessages(drafts: readonly Draft[], prefill: boolean, log: RepairLog): readonly Draft[] {
  const out = [...drafts]
  const first = out[0]
  if (first === undefined || (first.role !== 'user' && first.blocks[0]?.type !== 'compaction')) {
    note(log, 'first-user', 'messages.0', 'a user message was put first')
    out.unshift(newUserDraft(0, [{ type: 'text', text: first === undefined ? continueText : opening }]))
  }
  const last = out.at(-1)
  if (last?.role !== 'assistant') return out
  if (prefill) return [...out.slice(0, -1), withoutTrailingSpace(last, log)]
  note(
    log,
    'last-user',
    messagePath(last),
    'a user message was put last: this model does not continue an answer',
  )
  return [...out, newUserDraft(last.at, [{ type: 'text', text: continueText }])]
}

function withoutTrailingSpace(draft: Draft, log: RepairLog): Draft {
  const last: WireBlock | undefined = draft.blocks.at(-1)
  const text = last === undefined ? null : blockText(last)
  if (last === undefined || text === null || text.trimEnd() === text) return draft
  note(
    log,
    'trailing-space',
    draftPlace(log, last, draft),
    'space at the end of the answer to be continued was cut',
  )
  return withBlocks(draft, [...draft.blocks.slice(0, -1), changed(log, last, { text: text.trimEnd() })])
}
