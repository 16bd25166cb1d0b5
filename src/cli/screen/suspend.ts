/** Longer than any program is stopped; what matters is that a timer is there. */
const foreverMs = 2 ** 31 - 1

/** Stops the process as Ctrl-Z does in every program; ends when the shell has it go on (`fg`). */
export function suspend(): Promise<void> {
  return new Promise((resolve) => {
    // A listener for signals keeps no process alive, and the keyboard is not listened to meanwhile: without this the
    // program could end before it hears that it goes on.
    const alive = setInterval(() => undefined, foreverMs)
    process.once('SIGCONT', () => {
      clearInterval(alive)
      resolve()
    })
    // The whole group, as the terminal would.
    process.kill(0, 'SIGTSTP')
  })
}
