// Every number and switch of the system, with its default, in one place. A room reads its own group.
// Sizes are named with their unit: tokens, bytes, chars, ms.

import { restoringDefaults } from './compaction-defaults.ts'
import { companionDefaults } from './companion-defaults.ts'
import { labDefaults } from './lab-defaults.ts'
import { memoryDefaults } from './memory-defaults.ts'
import { agentDefaults } from './agent-defaults.ts'
import { recallDefaults } from './memory-defaults.ts'
import { dialDefaults } from './compaction-defaults.ts'
import { memoryJobDefaults } from './job-defaults.ts'
import { forkDefaults } from './job-defaults.ts'
import { permissionDefaults } from './tool-defaults.ts'
import { surfaceDefaults } from './surface-defaults.ts'
import { toolDefaults } from './tool-defaults.ts'
import { KB, MB, second, minute } from './units.ts'

export const defaults = {
  engine: {
    /** Output a request may take where nothing else is said. */
    maxOutputTokens: 32_000,
    /** The same for a caller who does not stream. */
    unstreamedOutputTokens: 21_333,
    /** Memory that opening a session leaves free: for garbage, and for what is done with it then. */
    workingMemoryBytes: 64 * MB,
    /** Opening a session that had to read more entries than this past its checkpoint writes a new one. */
    checkpointEntries: 2000,
    /** A hook is given up after this time. */
    hookMs: 60 * second,
  },
  transcript: {
    /** Deepest nesting accepted in a fact. Deeper JSON parses, but writing it back overflows the stack. */
    maxDepth: 64,
    /** Longest line of a transcript; what is larger must be spilled and referred to. */
    maxLineBytes: 16 * MB,
  },
  store: {
    /** `full` syncs every entry, `batch` what others act on, `none` leaves it to the system. */
    fsync: 'batch' as 'full' | 'batch' | 'none',
    /** Longest time an entry that nobody acts on may wait for its sync. */
    groupCommitMs: 200,
    /** A checkpoint is written after this many new bytes, and after each boundary. */
    checkpointBytes: 4 * MB,
    /** A lock whose body cannot be read is stale after this time. */
    unreadableLockMs: 30 * second,
    /** How often the owner of a lock gives a sign of life to those who cannot look at its process. */
    lockBeatMs: 15 * second,
    /** What a crash left is collected when it is this old, and how often that is looked for. */
    leftoverMs: 60 * minute,
    houseMs: 24 * 60 * minute,
    /** Spilled results of one session. */
    spillQuotaBytes: 1024 * MB,
    /** Transcripts are read in blocks of this size, forwards and backwards. */
    blockBytes: 256 * KB,
    /** A search for a place ends when it lies in a stretch this long, which is then read through. */
    seekBytes: 128 * KB,
    /** Blocks of such a search: it needs one line of each. */
    probeBytes: 16 * KB,
    /** Most bytes that are summed up while looking for whole entries in one damaged line. */
    salvageBytes: 128 * MB,
    /** Bytes before a checkpoint's place by which the transcript is known again; they include the last checksum. */
    fingerprintBytes: 64,
    /** Longest checkpoint that is read back; a longer one is rebuilt instead. */
    maxCheckpointBytes: 64 * MB,
    /** Longest lock that is looked at, and how often taking it is tried when others take it at the same moment. */
    maxLockBytes: 4 * KB,
    lockTries: 50,
    /** Places a line without checksum may lie apart from both its neighbours; one further off is left out. */
    uncheckedGap: 64,
    /** Longest first line of a transcript of which a copy is kept. */
    firstLineBytes: 16 * KB,
  },
  media: {
    /** Longer media are kept beside the session and not in its transcript, counted in characters of base64. */
    inlineChars: 4 * KB,
    /** A text longer than this goes beside the session too, as one that no line of a transcript can hold. */
    textChars: 4 * MB,
    /** Pages of a PDF that does not name them are guessed by its size. */
    bytesPerPage: 40 * KB,
    /** Once a limit is passed, this share of it stays: each replacement costs the cache, so that they come seldom. */
    keptShare: 0.75,
    /** How often in one turn a request is sent again without media that were refused. */
    refusals: 20,
    /** Media that a compaction names in its text; the others are counted. */
    namedMost: 20,
  },
  counting: {
    /** Tokens of an image or document of unknown size. */
    mediaTokens: 2000,
    /** A picture takes a token for each square of so many pixels, after it was made smaller to this edge and count. */
    patchPixels: 28,
    imageEdge: 2576,
    imageTokens: 4784,
    /** A page of a PDF, with its text and its picture. */
    pageTokens: 1500,
    /** Window of a model nobody knows anything about. */
    unknownWindowTokens: 200_000,
  },
  calibration: {
    /** A growth below this estimate says more about what stands around it than about the model. */
    minSampleTokens: 200,
    /** What a model reported is forgotten over about this many estimated tokens. */
    memoryTokens: 20_000,
    /** One sample counts for at most this share above or below what was expected. */
    clip: 0.25,
    /** No tokenizer lies outside; a report that does is wrong, and must not make a full window look empty. */
    lowest: 0.3,
    highest: 4,
    /** Weight of the factor a model starts with, and that factor. */
    priorTokens: 3000,
    prior: 1,
    /** Models known to count otherwise, by a part of their name; the first that fits holds. */
    priors: [
      ['claude-opus-4-7', 1.35],
      ['claude-opus-4-8', 1.35],
      ['claude-opus-5', 1.35],
      ['claude-sonnet-5', 1.35],
      ['claude-haiku-5', 1.35],
      ['claude-fable', 1.35],
      ['claude-mythos', 1.35],
      ['gpt-', 0.88],
    ] as readonly (readonly [part: string, factor: number])[],
  },
  results: {
    /** Largest result that enters the view whole, where its tool says nothing else. */
    maxChars: 50_000,
    /** Largest sum of all results that travel in one user message. */
    messageChars: 200_000,
    /** What a preview shows of each end. */
    headBytes: 2 * KB,
    tailBytes: KB / 2,
  },
  clearing: {
    /** Tools whose old results may be cleared, where the tool itself says nothing. */
    tools: ['Read', 'Bash', 'Grep', 'Glob', 'WebSearch', 'WebFetch', 'Edit', 'Write'] as readonly string[],
    /** Those of them that write: where the server clears, what they were given is what takes room. */
    writeTools: ['Edit', 'Write'] as readonly string[],
    /** The newest results stay, and never fewer than one. */
    keep: 5,
    /** After this long without an answer the cache is cold under either lifetime. */
    idleMs: 60 * minute,
    /** Active results at which the server is told to delete. */
    cachedTrigger: 12,
    /** A result below this is not worth a stub. */
    smallTokens: 150,
    /** Words of a cleared result that its stub keeps; 0 leaves the plain marker. */
    digestChars: 240,
    /** How much of a result is looked through for them, most of it at the head. */
    digestScanChars: 2 * KB,
    /** Of the input of a call a stub shows this much. */
    inputChars: 120,
    /** What a stub is taken to need before it is written. */
    stubTokens: 120,
    /** Under a warm cache a reduction must save this many times what the rewrite costs, and at least so many tokens. */
    margin: 10,
    minFreedTokens: 4000,
    /** From where between target and threshold on the economy may clear what nothing supersedes; 1 leaves it to pressure. */
    earlyShare: 0.5,
    /** The server clears by itself at the smaller of these tokens and this share of the threshold. */
    nativeTriggerTokens: 180_000,
    nativeTriggerShare: 0.8,
    /** It then clears at least this many tokens, or the same share of a smaller trigger. */
    nativeClearTokens: 140_000,
  },
  snip: {
    /** Shortest tag of an input; a tag that is taken grows. */
    tagChars: 6,
    /** Most inputs one call removes. */
    ids: 100,
    reasonChars: 500,
  },
  room: {
    /** Kept free for a summary: at most these tokens and this share of the window. */
    reserveTokens: 20_000,
    reserveShare: 0.2,
    /** Distance of the threshold from the effective window. */
    marginTokens: 13_000,
    marginShare: 0.065,
    /** Share of the room that a reduction must reach. */
    targetShare: 0.4,
  },
  view: {
    /** A pin is refused when all pins together would take more than this share of the room. */
    pinShare: 0.2,
    /** Real user words kept verbatim in a summary: of one message, and of all together (law U1). */
    userWordsMessageTokens: 4000,
    userWordsTotalTokens: 12_000,
    /** Of a longer message this many characters of each end are kept, and a ref. */
    userWordsEndChars: 2000,
  },
  compaction: {
    /** The text that stands for a span: its share of the room and its most tokens. */
    textShare: 0.1,
    textTokens: 12_000,
    /** The newest messages, kept as they are: until both least numbers are met, at most this share and these tokens. */
    keptShare: 0.2,
    keptTokens: 40_000,
    keptLeastTokens: 10_000,
    keptLeastMessages: 5,
    /** Words of the user that are shown only in part take together this share of what whole ones may take. */
    endsShare: 0.25,
    /** Shorter ends than this say nothing: the message is pointed to instead. */
    leastEndChars: 60,
    /** Steps in which ends are tried where they fill a room. */
    endsShrink: 0.9,
    /** What the audit found missing, word for word. */
    ledgerShare: 0.02,
    ledgerTokens: 1500,
    /** What open tasks have in however small a text. */
    taskTokens: 400,
    /** A result that is not smaller by this share is thrown away. */
    leastSavedShare: 0.05,
    /** Where what must be kept exceeds the target, this share of the room still lies below the threshold. */
    gapShare: 0.1,
    /** A result among the kept messages may become a stub above this size; the stub shows so much of each end. */
    largeTokens: 1000,
    stubEndChars: 300,
    /** One line of the text, and how much of a long text is looked through at each end. */
    lineChars: 240,
    scanChars: 8192,
    /** Of the last answer this much stands in the text. */
    standingChars: 1200,
    /** Things of one kind that the audit follows, the most frequent ones, and how many lost ones it names. */
    auditItems: 300,
    auditNames: 20,
    /** Failed model summaries in a row after which the text is extracted instead. */
    failures: 3,
    /** A model's summary shorter than this is no summary. */
    leastSummaryChars: 200,
  },
  request: {
    /** Most cache breakpoints in a request. */
    maxBreakpoints: 4,
    /** Longest tool name the wire is known to take. */
    toolNameChars: 64,
    cacheLifetimeMs: { '5m': 5 * minute, '1h': 60 * minute },
    /** A fall of cache reads is a break when it passes both. */
    breakShare: 0.05,
    /** Where a cache promises nothing: the share of hits until so many requests have shown their own. */
    unpromisedHits: 0.5,
    unpromisedRequests: 3,
    breakTokens: 2000,
    /** Sizes announced before a fall are estimates: one that is larger by this share is still the one announced. */
    announcedSlack: 0.5,
    /** Sources whose last request is remembered for comparison. */
    breakSources: 32,
    /** Characters shown around the first difference. */
    diffChars: 600,
    /** How far back from a breakpoint the provider looks for something cached. */
    lookbackPositions: 20,
    /** Who gets the long cache lifetime where it may be had. */
    longLifetimeSources: ['main', 'summary', 'agent*'] as readonly string[],
  },
  model: {
    /** Window behind the `[1m]` suffix and the long-window header. */
    longWindowTokens: 1_000_000,
    /** Of a model that a user adds without saying: the smallest output and the largest minimum of those we know. */
    unknownMaxOutputTokens: 16_384,
    unknownMinCacheTokens: 4096,
    /** Further attempts after the first; the wait doubles from base to most, less a random part of it. */
    maxRetries: 5,
    retryBaseMs: second / 2,
    retryMaxMs: 8 * second,
    retryJitterShare: 0.25,
    /** When the server asks for a longer wait than this, the failure is handed on at once. */
    retryAfterLimitMs: 2 * minute,
    /** A stream without a single byte for this long is dead. */
    idleMs: 5 * minute,
    /** After the last event a server gets this long to close, so that the connection can be used again. */
    drainMs: second / 2,
    /** Most characters of an error text that are kept. */
    errorTextChars: 2000,
    /** A reported prompt below this share of the estimate was cut by the server, unless the estimate is tiny. */
    silentShare: 0.5,
    /** The same against the prompt counted before it, when nothing was removed between. */
    leftOutShare: 0.8,
    silentMinTokens: 2000,
    /** A report of more windows than this is a mistake: loops of a server's own tools add up to ten. */
    absurdWindows: 20,
  },
  lab: labDefaults,
  memory: memoryDefaults,
  ...recallDefaults,
  ...agentDefaults,
  tools: toolDefaults,
  permission: permissionDefaults,
  ...restoringDefaults,
  ...dialDefaults,
  ...memoryJobDefaults,
  ...forkDefaults,
  ...companionDefaults,
  ...surfaceDefaults,
} as const
