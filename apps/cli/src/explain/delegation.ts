import type { Area } from './explanation.ts';

/** Errors of work that is delegated to other programs. */
export const delegation: Area = {
  title: 'Delegation to other programs',
  entries: [
    {
      code: 'no_gate',
      kinds: ['invalid'],
      what: 'A gate is required but not set, or a gate is set but the program never asks for approval.',
      todo: 'Set a gate that decides on each call, and create the backend with the permission "gate".',
      see: 'docs/delegation.md',
    },
    {
      code: 'bypass_as_root',
      kinds: ['invalid'],
      what: 'Claude Code refuses the permission "bypass" when it runs as root.',
      todo: 'Run Cobbler as another user, or declare that the machine is a sandbox (`sandboxed`).',
      see: 'docs/delegation.md',
    },
    {
      code: 'no_folder',
      kinds: ['tool'],
      what: 'The working directory of the program does not exist, or is not a directory.',
      todo: 'Choose an existing directory.',
    },
    {
      code: 'media',
      kinds: ['invalid'],
      what: 'A backend accepts text only, but the prompt contains an image or a document.',
      todo: 'Omit the content, or put the file in the working directory and name it in the prompt.',
      see: 'docs/delegation.md',
    },
    {
      code: 'job_timeout',
      kinds: ['timeout'],
      what: 'The program exceeded its time limit. Cobbler stopped it and all its child processes.',
      todo: 'Raise `timeoutMs`, or give the program a smaller task.',
      see: 'docs/delegation.md',
    },
    {
      code: 'no_end',
      kinds: ['agent'],
      what: 'The program ended before it reported a result, so the task counts as failed.',
      todo: 'Read its last output in the message. Usually, the program is not logged in, was killed, or has an unsupported version.',
      see: 'docs/delegation.md',
    },
    {
      code: 'message_too_long',
      kinds: ['agent'],
      what: 'Cobbler stopped the program, because it printed a message of more than 16 MiB, or more than 256 MiB in total. The response may be lost.',
      todo: 'Request a shorter response, or have long output written to a file.',
      see: 'docs/delegation.md',
    },
    {
      code: 'bad_exit',
      kinds: ['agent'],
      what: 'The program reported a result and then exited with an error.',
      todo: 'Read its output in the message, and check what it changed.',
    },
    {
      code: 'stale_session',
      kinds: ['invalid'],
      what: 'The program no longer has the conversation to continue. It started a new one, without the earlier messages.',
      todo: "Repeat the important context. Possible causes: the program's files were deleted, or you continue on another machine.",
      see: 'docs/delegation.md',
    },
    {
      code: 'no_fork',
      kinds: ['invalid'],
      what: 'A conversation with a backend cannot be forked: the original and the fork would continue the same conversation in the program.',
      todo: 'Start a new conversation.',
    },
    {
      code: 'no_job',
      kinds: ['agent'],
      what: 'The program sent output without having a task. This is a bug in Cobbler.',
      todo: 'Please report it, with the events of the session.',
    },
    {
      code: 'no_backend',
      kinds: ['tool'],
      what: 'No backend has this name. The message lists the available ones.',
      todo: 'Use one of those names.',
      see: 'docs/delegation.md',
    },
    {
      code: 'missing_argument',
      kinds: ['tool'],
      what: 'The model called the tool `agent` without an argument that the requested action needs.',
      todo: 'Do nothing: the model reads the message and can call the tool again.',
    },
    {
      code: 'no_sdk',
      kinds: ['invalid'],
      what: 'The Agent SDK of Claude Code is not installed, or cannot be loaded.',
      todo: 'Install `@anthropic-ai/claude-agent-sdk` next to `@cobbler/delegate`.',
      see: 'docs/delegation.md',
    },
    {
      code: 'sdk_failed',
      kinds: ['agent'],
      what: 'The Agent SDK of Claude Code threw an error. The message contains it.',
      todo: 'Try again. If the error persists, run `claude` in a terminal in the same directory.',
    },
  ],
};
