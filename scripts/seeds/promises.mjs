/** What Cobbler promises. @type {import('./table.mjs').Table} */
export const promises = {
  id: 'P',
  title: 'promises',
  entries: {
    P1: {
      asks: 'A run ends once, with one status, and every end but success says why in one typed error. An answer that was cut, garbled or left hanging is never a success.',
    },
    P2: {
      asks: 'Everything has a time limit, and none is infinite unless you say so: the head of an answer, silence, a stream without progress, a model call, a tool, a run. Time that people take to decide is not counted.',
    },
    P3: {
      asks: 'Cancel gives control back within 250 ms, whatever is going on. Connections are closed within a second, processes with all they started are gone within five.',
    },
    P4: {
      asks: 'Status and stop reason tell what happened. An ending that nobody knows is not `complete`, and a cancel beats a success that comes later.',
    },
    P5: {
      asks: 'A failure that may pass is tried again by one layer alone, with waits that grow and vary: for five minutes while a service is overloaded or cannot be reached, at most three times once an answer has begun, because it may be charged. You can choose both; limits of time and a cancel end it at once. It is never tried again once a tool of that answer has begun.',
    },
    P6: {
      asks: 'What was refused is not tried again, and a redirect takes no key elsewhere.',
    },
    P7: {
      asks: 'A service that says how long to wait is obeyed, in each way it may say so. Nonsense counts as nothing said, and too long a wait ends the run at once with that time in the error.',
    },
    P8: {
      asks: 'Text that was shown is not shown again: a retry is announced, and the final text is of one attempt.',
    },
    P9: {
      asks: 'A call runs at most once, over retries, crashes and restarts, unless its tool is `read` or `idempotent`; and never on arguments that are cut, unreadable or against its schema.',
    },
    P10: {
      asks: 'Nothing a tool does ends a run: it becomes an error that the model reads, of a bounded size, without our paths and stacks.',
    },
    P11: {
      asks: 'Arguments are plain data of bounded depth and size; no nesting overflows a stack and nothing reaches a prototype.',
    },
    P12: {
      asks: 'After every outcome the conversation is one that the service accepts: each call is answered, no text is empty or broken. The next prompt works.',
    },
    P13: {
      asks: 'An event that was committed survives kill -9 and a full disk. A store that is slow or dead holds no run up, and a damaged file opens and says what it lost.',
    },
    P14: {
      asks: 'Usage is counted once. Failed attempts are counted apart, and totals that services repeat are not added up.',
    },
    P15: {
      asks: 'A server shows and does nothing without a token, on your own machine too. Host and Origin are checked, sizes and times are bounded, and it does not listen to the network without a token.',
    },
    P16: {
      asks: 'One run a session, a bounded number of sessions, readers and bytes. A reader that comes back misses nothing and gets nothing twice, over restarts too; one that leaves cancels nothing.',
    },
    P17: {
      asks: 'Two thousand idle readers cost little more than with Node’s own server, and a prompt still starts within 100 ms.',
    },
    P18: {
      asks: 'No request brings the process down: no rejection or exception that nobody caught, no warning of leaking listeners, and memory that stays flat.',
    },
    P19: {
      asks: 'A key or token appears in no error, log, event, file or child process, but for the one key that a delegated program needs for its own service.',
    },
    P20: {
      asks: 'Delegated programs may do what you allowed where they were made, and no call, chat or request can change it. No shell reads a prompt, and the environment is by list.',
    },
    P21: {
      asks: 'What a model says is not trusted: it chooses no file outside the workspace, no address outside the list, no permission of its own; a gate stands before every tool.',
    },
    P22: {
      asks: 'What a model says cannot drive the terminal: control characters are shown and not obeyed.',
    },
    P23: {
      asks: 'Nothing is left behind at the end but what is kept in the home folder and the workspace, for the owner alone.',
    },
    P24: {
      asks: 'The page says within two seconds that it was cut off, then how much it caught up on, and shows what the log holds.',
    },
    P25: {
      asks: 'A server tells its one address and opens nothing by itself; a second start says which process holds the port.',
    },
  },
};
