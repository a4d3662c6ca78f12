/** The promises of Cobbler. @type {import('./table.mjs').Table} */
export const promises = {
  id: 'P',
  title: 'promises',
  entries: {
    P1: {
      asks: 'A run ends once, with one status. Every status but success has one typed error with the reason. A truncated, malformed or stalled response is never a success.',
    },
    P2: {
      asks: 'Everything has a time limit, and none is infinite unless you say so: response headers, silence, a stream without progress, a model call, a tool, a run. Time that users take to decide is not counted.',
    },
    P3: {
      asks: 'Cancel returns control within 250 ms, whatever is running. Connections are closed within a second; processes and everything they started are ended within five.',
    },
    P4: {
      asks: 'Status and stop reason tell what happened. An unknown stop reason is not `complete`, and a cancel takes precedence over a later success.',
    },
    P5: {
      asks: 'One layer alone retries transient failures, with growing, randomized delays: for five minutes while a service is overloaded or unreachable, at most three times once a response has started, because it may be charged. You can set both; time limits and a cancel end the retries at once. A response is never retried once one of its tools has started.',
    },
    P6: {
      asks: 'A rejected request is not retried, and a redirect takes no key elsewhere.',
    },
    P7: {
      asks: 'A service’s stated wait is obeyed, in every format. Invalid values count as absent, and too long a wait ends the run at once with that time in the error.',
    },
    P8: {
      asks: 'Text that was shown is not shown again: a retry is announced, and the final text comes from one attempt.',
    },
    P9: {
      asks: 'A call runs at most once, across retries, crashes and restarts, unless its tool is `read` or `idempotent`; and never with arguments that are truncated, unreadable or violate its schema.',
    },
    P10: {
      asks: 'Nothing a tool does ends a run: a failure becomes an error that the model sees, of bounded size, without local paths and stacks.',
    },
    P11: {
      asks: 'Arguments are plain data of bounded depth and size; no nesting overflows a stack and nothing reaches a prototype.',
    },
    P12: {
      asks: 'After every outcome the service accepts the conversation: each call has a result, and no text is empty or invalid. The next prompt works.',
    },
    P13: {
      asks: 'A committed event survives kill -9 and a full disk. A slow or dead store does not block a run, and a damaged file opens and reports what is lost.',
    },
    P14: {
      asks: 'Usage is counted once. Failed attempts are counted separately, and totals that services repeat are not added up.',
    },
    P15: {
      asks: 'A server shows and does nothing without a token, even on your own machine. Host and Origin are checked, sizes and times are limited, and it does not listen on the network without a token.',
    },
    P16: {
      asks: 'One run per session; a limited number of sessions, readers and bytes. A reader that reconnects misses nothing and receives nothing twice, even across restarts; one that disconnects cancels nothing.',
    },
    P17: {
      asks: 'Two thousand idle readers cost little more than with Node’s own server, and a prompt still starts within 100 ms.',
    },
    P18: {
      asks: 'No request brings the process down: no unhandled rejection or exception, no warning of leaking listeners, and stable memory.',
    },
    P19: {
      asks: 'A key or token appears in no error, log, event, file or child process, except the one key that a delegated program needs for its own service.',
    },
    P20: {
      asks: 'Delegated programs have the permissions set where they are created, and no call, chat or request can change them. No shell reads a prompt, and only listed environment variables are passed.',
    },
    P21: {
      asks: 'Model output is not trusted: it cannot choose a file outside the workspace, an address outside the list, or its own permissions; a gate checks every tool call.',
    },
    P22: {
      asks: 'Model output cannot control the terminal: control characters are shown, not executed.',
    },
    P23: {
      asks: 'Nothing remains at the end except what is stored in the home directory and the workspace, readable only by the owner.',
    },
    P24: {
      asks: 'The page reports within two seconds that it lost its connection, then how many events it received on reconnecting, and shows what the log contains.',
    },
    P25: {
      asks: 'A server prints its one address and opens nothing on its own; a second start reports which process uses the port.',
    },
  },
};
