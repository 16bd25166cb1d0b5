// The numbers of the dial between thrift and fidelity; part of `defaults`. Tuned on the recorded sessions, the held-out
// ones included in the end: docs/figures.md says how. `pal replay PATH --policy dial` plays all points.

import { second } from './units.ts'
export const dialDefaults = {
  dial: {
    /** Where it stands unless somebody turns it: 0 keeps as much as fits, 1 spends as little as is sensible. */
    thrift: 0.8,
    /** Places that have a name. */
    names: { fidelity: 0, balanced: 0.8, economy: 1 },
    /** What is measured; between two of them it is in between. */
    points: [
      {
        at: 0,
        carry: 30,
        coldTokens: 120_000,
        leastTokens: 40_000,
        tailTokens: 29_000,
        excerptTokens: 26_000,
        detailTokens: 6000,
        textTokens: 5000,
        filesTokens: 25_000,
        clearsIdle: 0,
      },
      {
        at: 0.2,
        carry: 14,
        coldTokens: 90_000,
        leastTokens: 30_000,
        tailTokens: 28_000,
        excerptTokens: 24_000,
        detailTokens: 6000,
        textTokens: 4000,
        filesTokens: 20_000,
        clearsIdle: 0,
      },
      {
        at: 0.4,
        carry: 7,
        coldTokens: 65_000,
        leastTokens: 20_000,
        tailTokens: 18_000,
        excerptTokens: 22_000,
        detailTokens: 8000,
        textTokens: 2000,
        filesTokens: 8000,
        clearsIdle: 1,
      },
      {
        at: 0.5,
        carry: 5,
        coldTokens: 50_000,
        leastTokens: 18_000,
        tailTokens: 12_000,
        excerptTokens: 20_000,
        detailTokens: 9000,
        textTokens: 2000,
        filesTokens: 5000,
        clearsIdle: 1,
      },
      {
        at: 0.6,
        carry: 4,
        coldTokens: 45_000,
        leastTokens: 17_000,
        tailTokens: 8000,
        excerptTokens: 14_000,
        detailTokens: 10_000,
        textTokens: 2000,
        filesTokens: 3000,
        clearsIdle: 1,
      },
      {
        at: 0.7,
        carry: 3.5,
        coldTokens: 42_500,
        leastTokens: 16_000,
        tailTokens: 7000,
        excerptTokens: 10_000,
        detailTokens: 10_000,
        textTokens: 2000,
        filesTokens: 3000,
        clearsIdle: 1,
      },
      {
        at: 0.8,
        carry: 3,
        coldTokens: 40_000,
        leastTokens: 15_000,
        tailTokens: 6000,
        excerptTokens: 8000,
        detailTokens: 8000,
        textTokens: 2000,
        filesTokens: 3000,
        clearsIdle: 1,
      },
      {
        at: 1,
        carry: 1.2,
        coldTokens: 25_000,
        leastTokens: 12_000,
        tailTokens: 6000,
        excerptTokens: 3000,
        detailTokens: 4000,
        textTokens: 1500,
        filesTokens: 0,
        clearsIdle: 1,
      },
    ],
    /** What writing costs against reading where `coldTokens` are meant; where it costs more, fewer are enough. */
    coldWrite: 12.5,
    /** What a summary by a model is taken to put out, where the price of a boundary is weighed. */
    summaryTokens: 3000,
    /** What a cleared result counts against its estimate where a boundary is weighed: estimates are that unsure. */
    clearedWeight: 1.1,
    /** What excerpts may take of the room, and what single lines may. */
    excerptShare: 0.15,
    detailShare: 0.05,
    /** Share of what excerpts and lines may take by which the caps on the user's words are raised. */
    wordsShare: 0.5,
    /** A compaction within a given room: what the user's words may take of it, how what they leave is shared, the tries, and what single lines may take of what is then free. Where the words alone are tried (`mostWords`) they are counted with wider fences than they get; where even they do not fit they have `crowdedShare`, half of it at each further try. */
    within: {
      wordsShare: 0.92,
      tailShare: 0.12,
      excerptShare: 0,
      detailShare: 0.66,
      textShare: 0.18,
      ledgerShare: 0.04,
      restShare: 0.6,
      nearShare: 0.03,
      fillShares: [0.95, 0.7],
      tries: 5,
      mostWords: 1.5,
      crowdedShare: 0.8,
      crowdedTries: 7,
    },
  },
  score: {
    /** Answers whose words say what the work is about now. */
    recentAnswers: 6,
    /** Longest line that stays; a longer one does in pieces. Longest title of what lines belong to, and the refs beside it. */
    lineChars: 240,
    titleChars: 100,
    refs: 3,
    /** What of a title counts against the first line under it, which the others share, and what a title tells of a name in it, against that line. */
    titleWeight: 0.1,
    titleHelps: 0.5,
    /** Worth less than this for each token, a line is left out even where there is room. */
    leastWorth: 0.00001,
    /** Lines that were left, of which the best are named where somebody asks why. */
    leftNamed: 40,
    /** How much more room is looked at for that, and the features that are named of each. */
    whyTokens: 4000,
    reasons: 4,
    /** Names and files that a boundary writes down for the next: the likeliest to be needed, the most worked on. */
    countedNames: 600,
    countedFiles: 60,
  },
  excerpts: {
    /** Lines that are chosen together: what an edit replaces mostly stands in one such piece. */
    pieceLines: 20,
    /** How many lines earlier or later a piece may end, so that it ends with a paragraph. */
    pieceSlack: 8,
    /** What a piece may take. A line beyond it is no excerpt but a whole message that should have gone. */
    pieceTokens: 4000,
    /** Most that is looked through, from the newest back. */
    mostTokens: 800_000,
    /** Answers after which a use counts a third as much. */
    fading: 40,
    /** What a call that changes a file counts, against one that reads it. */
    changeWeight: 3,
    /** What a name that will be used counts, against a text that will be edited. */
    namesWeight: 0.05,
    /** Answers since a piece that an earlier boundary kept was new. */
    keptAge: 40,
    /** Lines of a call that stand before what is kept of its result. */
    callLines: 3,
    /** Lines at the beginning of a change that stand before what is kept of it. */
    headLines: 2,
    /** What the fences around a piece and its call take. */
    fenceTokens: 30,
    /** Worth less than this for each token, a piece is left out even where there is room. */
    leastWorth: 0.000001,
  },
} as const

// The numbers of what stands beside a compaction: what it gives back, spans archived before it, and its preparation; part
// of `defaults`.

export const restoringDefaults = {
  restoration: {
    /** Whether files are read again; plan, mode and tasks come back in any case. */
    files: true,
    /** Most recently read files that are read again, what one of them may take, and all together. */
    fileCount: 5,
    fileTokens: 5000,
    filesTokens: 50_000,
    /** A file that would get less than this is shown by its outline instead. */
    leastFileTokens: 250,
    /** Further files of which the declarations are shown, and what they may take: each, and together. */
    outlineCount: 20,
    outlineTokens: 400,
    outlinesTokens: 3000,
    outlineLineChars: 160,
    /** Further files of which only the name is shown. */
    pathCount: 60,
    pathsTokens: 800,
    /** What a restorer gives back is cut to this; the plan is not cut. */
    standingTokens: 5000,
    /** Files that come with the instructions anyway, by their names. */
    instructionFiles: [
      'AGENTS.md',
      'CLAUDE.md',
      'AGENTS.local.md',
      'CLAUDE.local.md',
      'MEMORY.md',
    ] as readonly string[],
  },
  preparation: {
    /** Share of the threshold at which a summary is asked for ahead. */
    share: 0.9,
    /** A text still being written when it is needed is waited for this long. */
    waitMs: 30 * second,
  },
} as const
