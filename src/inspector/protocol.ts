// What the inspector's server and page say to each other. Types alone (in protocol/), so that both sides import them: the page is built
// against it, the static export holds the same answers under the same paths.
//
// Every path begins with /api and needs `Authorization: Bearer TOKEN`. SESSION, BLOB and FILE are one path segment each,
// encoded with encodeURIComponent. No GET changes anything. Failures have a status ≥ 400 and a `Problem` as body.
//
// The page itself needs no token: GET / is index.html, and any other file that the bundle wrote beside it (page.js, page.css,
// chunks) is at its own name. `export.js` there is the whole page as one classic script, for the static export. No inline
// script or style: the policy allows 'self' alone. The token is in the fragment, #t=TOKEN, with whatever else the page keeps
// there after it.
//
//   GET  /api/about                                  About
//   GET  /api/sessions                               SessionList
//   GET  /api/live?session=SESSION                   text/event-stream of LiveEvent (read it by fetch); without session: of the list
//   GET  /api/s/SESSION                              SessionHead
//   GET  /api/s/SESSION/index?before=SEQ&count=N     bytes of one IndexChunk, newest first (see columns.ts: decodeChunk)
//   GET  /api/s/SESSION/requests?before=SEQ&count=N  RequestChunk, newest first
//   GET  /api/s/SESSION/carried?from=SEQ&to=SEQ      Carried: what the entries of the table cost so far
//   GET  /api/s/SESSION/lines?from=SEQ&to=SEQ        Lines: entries as they are stored
//   GET  /api/s/SESSION/request/SEQ[?against=SEQ]    RequestDetail
//   GET  /api/s/SESSION/request/SEQ/body             the composed body, application/json
//   GET  /api/s/SESSION/block/SEQ/N                  BlockDetail
//   GET  /api/s/SESSION/edits                        EditSummary[] as { edits }
//   GET  /api/s/SESSION/edit/SEQ                     EditDetail, or RecordedHead of a compaction that another program made
//   GET  /api/s/SESSION/breaks                       Breaks, worst first
//   GET  /api/s/SESSION/agents                       AgentTree
//   GET  /api/s/SESSION/find?text=TEXT&before=SEQ    Found: search in everything that was said, newest first
//   GET  /api/s/SESSION/blob/BLOB?offset=N&length=N  bytes of a result that was kept beside the session
//   GET  /api/memory                                 MemoryList
//   GET  /api/memory/STORE/FILE                      MemoryDetail
//   GET  /api/policies                               PolicyList
//   POST /api/s/SESSION/undo|release|pin             EffectWish → EffectAnswer (200), EffectConflict (409)
//   POST /api/s/SESSION/replay                       ReplayWish → ReplayAnswer; ask again until it is done
//   POST /api/s/SESSION/recorded                     RecordedWish → RecordedAnswer; ask again until it is done
export type * from './protocol/index.ts'
export type * from './protocol/request.ts'
export type * from './protocol/edits.ts'
export type * from './protocol/memory.ts'
