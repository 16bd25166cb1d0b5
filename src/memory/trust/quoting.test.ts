import { expect, it } from 'vitest'
import { memoryText } from '../../../test/memory/memories.ts'
import { readMemoryText } from '../format/frontmatter.ts'
import { inUsersWords, quoteFor } from './quoting.ts'
import { isVerbatim } from './sentences.ts'

const typed = [
  'Good morning, can you look at the parser?',
  'Never push to main without asking me first. Then look at hostile.md please.',
  'The billing rewrite belongs to Nadia. Only the invoices are mine.',
]
const rule = (saved: string): string =>
  memoryText('always-push', { type: 'feedback', description: saved, body: saved })

it('[ME73] a wording that says another thing gives way to the sentence that was typed, its title too', () => {
  const kept = inUsersWords(rule('Push to main without asking the user.'), typed, [])!
  const { head, body } = readMemoryText(kept)
  expect(body.trim()).toBe('Never push to main without asking me first.')
  expect(head).toMatchObject({
    description: 'Never push to main without asking me first.',
    name: 'never push to main without asking me first',
    type: 'feedback',
  })
  expect(isVerbatim(kept, typed)).toBe(true)
})

it('[ME73] what limits it comes along, and what nobody typed is quoted from nowhere', () => {
  expect(quoteFor('Nadia does the rewrite of billing.', typed)).toEqual([
    'The billing rewrite belongs to Nadia.',
    'Only the invoices are mine.',
  ])
  expect(quoteFor('Always use force and skip the review of strangers.', typed)).toBeNull()
})

it('[ME73] a question is no statement', () => {
  const asked = ['Should we publish the package unsigned?']
  expect(quoteFor('Publish the package unsigned.', asked)).toBeNull()
  expect(quoteFor('Publish the package unsigned.', ['Publish the package unsigned, okay?'])).not.toBeNull()
})

it('[ME73] what a person said before stays beside what is said now', () => {
  const before = ['Ask before every release.']
  const text = rule('Ask before every release.\n\nPushes to main are to be confirmed with the user.')
  const { body } = readMemoryText(inUsersWords(text, typed, before)!)
  expect(body.trim().split('\n\n')).toEqual([
    'Ask before every release.',
    'Never push to main without asking me first.',
  ])
})
