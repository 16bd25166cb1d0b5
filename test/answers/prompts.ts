// Owns differently worded prompts for each of the engine's own requests. They are this test's own words: the
// rule-based model must know a request by what it asks for, so no prompt of the engine is quoted here.

export const nineTitles = [
  'Primary request and intent',
  'Key technical concepts',
  'Files and code sections',
  'Errors and fixes',
  'Problem solving',
  'All user messages',
  'Pending tasks',
  'Current work',
  'Optional next step',
]

export const summaries: readonly string[] = [
  `Answer in text only and call no tools. Your job now is to write a detailed summary of the conversation above, so that work can continue without loss.
First think inside <analysis> tags, then put the result inside <summary> tags. Use these sections:

${nineTitles.map((title, index) => `${index + 1}. ${title}: what belongs there, in detail.`).join('\n')}

Remember: text only.`,
  `We are running out of room. Please condense everything we did in this session for whoever picks it up. No tool may be used.

${nineTitles.map((title) => `## ${title}\nA few lines on it.`).join('\n\n')}

Wrap it in <summary></summary>.`,
  `Give a hand-over of our discussion so far. Cover these parts: ${nineTitles.join('; ')}. Do not use any tool.`,
]

export const notesPath = '/home/dev/.palimpsest/projects/shop/s1/session-memory/summary.md'
export const notesTemplate = `# Session Title
_Five to ten words._

# Current State
_What is being done now._

# Task specification
_What was asked._

# Files and Functions
_Which and why._

# Errors & Corrections
_What failed._

# Worklog
_One line a step._
`
export const notes = (current: string): readonly string[] => [
  `Update the session notes at ${notesPath} with the Edit tool, and use no other tool. Leave headings and the italic lines as they are.
<current-notes>
${current.trimEnd()}
</current-notes>
Write only what the conversation shows. Make all edits in one go.`,
  `The running record of this piece of work is kept in ${notesPath}. Bring it up to date by editing that file alone; its present content:

${current.trimEnd()}

Each part may hold about 2000 tokens.`,
  `Please revise our journal (file ${notesPath}), filling in what happened since. As it stands:
\`\`\`
${current.trimEnd()}
\`\`\``,
]

const manifest = `- [feedback] test-command.md (2026-11-01): run the tests with make check, never npm test
- [user] language.md (2026-10-02): speaks German, writes English
- [project] release-date.md (2026-09-12): release freeze begins in December`

export const selections: readonly { readonly system?: string; readonly text: string }[] = [
  {
    system:
      'You choose which stored memories help with a question. Reply with JSON: {"selected": ["name.md"]}, five at most, or an empty list.',
    text: `Question: how do I run the tests here?\n\nAvailable:\n${manifest}`,
  },
  {
    text: `Pick what is worth loading for the following input and return a JSON array of file names, nothing else.\nInput: why did the tests break?\nRecently used tools: Bash, Read\n\n${manifest}`,
  },
]

export const memoryFolder = '/home/dev/.palimpsest/projects/shop/memory'
export const extractions: readonly string[] = [
  `Look at the last 10 messages and decide whether something in them is worth keeping for future sessions. Memories are files in ${memoryFolder}/ with an index MEMORY.md. Update an existing file rather than adding a duplicate.
You may read, and write inside that folder.

What is there now:
- [feedback] tabs.md (2026-10-01): indents with tabs`,
  `What did the user just tell us in this conversation that a later session should remember? Save each such thing as its own memory file below ${memoryFolder} (name, description and type on top) and list it in the index. If nothing lasting was said, write nothing.`,
]

export const consolidations: readonly string[] = [
  `Time to consolidate the memories in ${memoryFolder}/. Go over the files gathered across sessions, merge what overlaps, delete what is contradicted or stale, then prune the index MEMORY.md.

- [feedback] quotes-new.md (2026-11-10): single quotes
- [feedback] quotes-old.md (2026-03-01): double quotes
- [feedback] quotes-first.md (2026-01-01): double quotes
- [user] language.md (2026-10-02): speaks German`,
  `Housekeeping of our long-term memory, which lives in ${memoryFolder}: tidy it up. Outdated statements give way to newer ones, duplicates become one, and MEMORY.md points to nothing that is gone.
1. quotes-new.md
2. quotes-old.md
3. quotes-first.md
4. language.md`,
]

export const progresses: readonly string[] = [
  'Describe in 3-5 words, present tense, what you are doing right now. Name the file or function.',
  'Status please: three to five words, starting with an -ing verb, nothing else.',
]

/** Ordinary messages that speak of the same things without asking for them. */
export const ordinary: readonly string[] = [
  'Summarize the README file for me.',
  'Please write a function that produces a summary of the sales table.',
  'Edit /home/dev/shop/docs/notes.md and add a line about taxes.',
  'The memory of the process grows; look at src/memory/pool.js and fix the leak.',
  'Return the user as JSON from /api/user and document it in docs/api.md.',
  'Merge the two config files and remove duplicates.',
  'Please continue the work from the previous session.',
  `Implement this plan:
# Plan
## Context
The exporter answers in JSON and should list every reader in the index.
## Files
- docs/export.md: say which fields are useful
- src/export.js: write them
## Tests
- run them all`,
  `Complete the assignment.
# Target
Map every retry in /home/dev/shop.
# Change
Read only; update nothing but the report.
# Report
Put it into /home/dev/shop/report.md, one line a place.`,
]
