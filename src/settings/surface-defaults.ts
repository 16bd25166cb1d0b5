// The numbers of what people touch: preset, command line, demo; part of `defaults`.
import { MB, second } from './units.ts'

export const surfaceDefaults = {
  telemetry: {
    /** Longest text on a span: a name, a reason, an id; and where content is switched on, one message. */
    textChars: 256,
    contentChars: 32_000,
    /** Most spans that wait for the collector, and how many go in one request. */
    waitingSpans: 8192,
    batchSpans: 512,
    /** How often what waits is sent, and how often the sums. */
    flushMs: 5 * second,
    metricsMs: 60 * second,
    /** How long a collector may take; and all of it together when the program ends. */
    requestMs: 10 * second,
    closeMs: 2 * second,
  },
  gateway: {
    /** Largest result of a foreign agent that passes whole, and the largest sum of those in one message. */
    resultChars: 16_000,
    messageChars: 64_000,
    /** Smallest result that is replaced by the name of the call that gave the same. */
    repeatedChars: 2000,
    /** What is shown of each end of one that is cut. */
    headChars: 4000,
    tailChars: 2000,
    /** A larger body is forwarded without being read. */
    bodyBytes: 32 * MB,
    /** Silence on an open stream after which the client is told that it still lives. */
    pingMs: 15 * second,
    /** A text that was cut is kept so many days after a request last went out without it. */
    keptDays: 30,
    /** All such texts of one credential together; the oldest go first, and never those used within a day. */
    keptBytes: 2000 * MB,
    /** Requests at once. */
    requests: 64,
    /** Where the dial stands for compactions of foreign agents: who asks for them wants to pay less. */
    thrift: 0.8,
  },
  inspector: {
    /** Bytes that nothing has removed from context after which the window is no longer computed. */
    viewBytes: 96 * MB,
    /** Bytes between two kept folds of an index, at least, and the most that are kept. */
    snapshotBytes: 1 * MB,
    snapshots: 256,
    /** Characters of a tool's name, of a session's title, and of texts that stand for longer ones. */
    labelChars: 80,
    titleChars: 120,
    excerptChars: 2000,
    /** Entries in a chunk of the index, and requests. */
    chunkEntries: 8192,
    chunkRequests: 2000,
    /** Lines and bytes of them that one answer holds. */
    linesEntries: 500,
    linesBytes: 4 * MB,
    /** Rows whose cost is asked for at once. */
    carriedEntries: 500,
    /** Hits of one search, and bytes that it looks through before it answers. */
    findHits: 50,
    findBytes: 32 * MB,
    /** Sessions whose index is in memory. */
    openSessions: 4,
    /** How often a watched session and the list are looked at. */
    pollMs: 150,
    listPollMs: 2 * second,
    aliveMs: 15 * second,
    /** Largest body of a POST, and of a piece of a blob. */
    postBytes: 16_384,
    blobBytes: 1 * MB,
    /** Connections at once, and how long a client may take to send its request or to read its answer. */
    connections: 64,
    clientMs: 20 * second,
    stalledMs: 60 * second,
    /** Replays that are kept. */
    replays: 16,
    /** How long a process that holds a session may take to answer a wish. */
    wishMs: 10 * second,
    /** The largest exported file, and the bytes of sessions that one is made of. */
    exportBytes: 50 * MB,
    exportSourceBytes: 200 * MB,
  },
  preset: {
    /** Who answers where nobody has said. */
    model: 'claude-sonnet-5',
    /** How long git may take to say what is changed, and how much of that is told. */
    gitStatusMs: 2 * second,
    /** The same where nobody waits at a screen. */
    gitPatientMs: 20 * second,
    gitStatusChars: 2000,
  },
  cli: {
    /** Width where the terminal does not say. */
    columns: 80,
    /** Most that is read from standard input, from a settings file, and of a recording. */
    stdinBytes: 10 * MB,
    settingsBytes: 1 * MB,
    recordingBytes: 256 * MB,
    /** Somebody who waits for an open pipe is told so after this time. */
    stdinNoticeMs: 3 * second,
    /** Shortest beginning of a session's id that names it. */
    idPrefixChars: 4,
    /** First words of a session shown in the list. */
    firstWordsChars: 60,
    /** Largest text of one's own that stands for what is put away, and lines a preview shows of each kind. */
    summaryChars: 200_000,
    previewLines: 5,
    /** Sessions shown where nothing else is asked for. */
    listedSessions: 20,
    /** What the doctor wants of Node, how long it waits for a program, and how many sessions it reads through. */
    leastNode: [20, 19] as const,
    probeMs: 5 * second,
    /** A tiny request that shows whether a model answers: its most output, and how long it may take. */
    probeTokens: 64,
    probeAnswerMs: 60 * second,
    probedSessions: 5,
  },
  screen: {
    /** Longest a diff is looked for. */
    diffMs: 200,
    /** Lines of a call, a change, a result and a message that are shown before it is opened, and rows of each line. */
    callLines: 8,
    changeLines: 24,
    resultLines: 4,
    messageLines: 12,
    lineRows: 6,
    /** From this share of the window on the status line warns. */
    fullShare: 0.8,
    /** Rows of a list to choose from. */
    pickerRows: 12,
    /** Typed inputs that are found again with the up key, and the most that is read of their file. */
    pastInputs: 500,
    pastInputBytes: 1 * MB,
    /** Paths that are offered for the beginning of one. */
    offeredPaths: 30,
    /** Files looked through for a name that was begun. */
    lookedPaths: 20_000,
    /**
     * A question takes keys when it has been in sight for the first, and nothing was typed for the second: longer than
     * the pauses of somebody who types slowly.
     */
    inSightMs: 400,
    quietMs: 1.5 * second,
    /** What is shown and told of the output of a shell command that the person typed: its end. */
    shellChars: 20_000,
    /** Seconds that a turn must have taken for its end to call the person. */
    notifyAfter: 20,
    /** Two presses within this time leave. */
    leaveMs: 2 * second,
  },
  mcp: {
    /** How long a start at a screen waits for servers of tools, one may take to answer at all, and a call may run. */
    startMs: 5 * second,
    connectMs: 30 * second,
    callMs: 600 * second,
    /** Share of the window that schemas of servers may take in every request; what is beyond is looked up. */
    windowShare: 0.05,
    descriptionChars: 1000,
    instructionChars: 2000,
    /** Found tools whose schemas are shown at once. */
    schemasShown: 8,
    /** What is kept of a server's error stream, and shown of it. */
    errorPieces: 20,
    errorChars: 400,
  },
  extensions: {
    /** Skills, styles or commands of one folder, the size of a page, and what is shown of its description. */
    pages: 200,
    pageBytes: 256 * 1024,
    aboutChars: 200,
    /** One skill in the view, and all that a compaction gives back. */
    skillTokens: 5000,
    skillsTokens: 25_000,
  },
  demo: {
    /** Small, so that everything that makes room has to. */
    windowTokens: 16_500,
    maxOutputTokens: 4000,
    model: 'claude-sonnet-4-6',
    /** What the results of one answer may take together. */
    messageChars: 10_000,
    /** Newest results that stay whole. */
    keep: 2,
  },
} as const
