import type { Area } from './explanation.ts';

/** What the model reads when a tool on files or commands fails; people see it in the transcript. */
export const tools: Area = {
  title: 'Files, commands and MCP servers',
  entries: [
    {
      code: 'workspace',
      kinds: ['invalid'],
      what: 'The folder to work in does not exist, is no folder, or may not be entered.',
      todo: 'Name one that exists: `-C FOLDER`, or `workspace` in a program.',
    },
    {
      code: 'outside',
      kinds: ['tool'],
      what: 'A path leads out of the workspace, directly or through a link. Tools never leave it.',
      todo: 'Use a path inside of it, or start in a folder that holds both: `-C FOLDER`.',
      see: 'docs/tools.md',
    },
    {
      code: 'not_found',
      kinds: ['tool'],
      what: 'There is no such file. The message suggests names that are alike.',
      todo: 'Correct the path; it counts from the workspace.',
    },
    {
      code: 'is_directory',
      kinds: ['tool'],
      what: 'The path is a folder where a file is needed.',
      todo: 'Name a file in it.',
    },
    {
      code: 'not_directory',
      kinds: ['tool'],
      what: 'The path goes through a file as if that were a folder.',
      todo: 'Correct the path.',
    },
    {
      code: 'denied',
      kinds: ['tool'],
      what: 'The system does not allow it: rights of the file, or a file system that can only be read.',
      todo: 'Change the rights of the file or folder, or work on a copy.',
    },
    {
      code: 'changed',
      kinds: ['tool'],
      what: 'The file was changed by somebody else between reading and writing. Nothing was overwritten.',
      todo: 'Read it again, then make the change.',
    },
    {
      code: 'special',
      kinds: ['tool'],
      what: 'The path is a device, a socket or a pipe and no regular file.',
      todo: 'Use a command for it, if it is meant at all.',
    },
    {
      code: 'io',
      kinds: ['tool'],
      what: 'The file system failed: mostly the disk is full or has a fault.',
      todo: 'Make room, or look at the disk. The message has the code of the system.',
    },
    {
      code: 'unsuited',
      kinds: ['tool'],
      what: 'The file is not fit for this tool: binary, not UTF-8, too large, or shorter than the line asked for.',
      todo: 'The message says which. Read a part of it, or use a command.',
    },
    {
      code: 'no_match',
      kinds: ['tool'],
      what: 'The text to be replaced does not stand in the file, or stands there more than once. Nothing was changed.',
      todo: 'Read the file again and give the text exactly, with enough around it to be found once.',
    },
    {
      code: 'pattern',
      kinds: ['tool'],
      what: 'The pattern to search for is no regular expression.',
      todo: 'Mend it, or set `literal` to search for plain text.',
    },
    {
      code: 'tool_timeout',
      kinds: ['timeout'],
      what: 'A tool did not finish in its time and was stopped.',
      todo: 'Give it more (`timeoutMs`), or split the work. A command with a server in it belongs into the background.',
      see: 'docs/tools.md',
    },
    {
      code: 'no_program',
      kinds: ['tool'],
      what: 'The program to be started is not there: not installed, or not in PATH.',
      todo: 'Install it, or extend PATH. `cobbler doctor` shows which programs are found.',
    },
    {
      code: 'unstartable',
      kinds: ['tool'],
      what: 'A program is there and could not be started: no permission, too many processes or open files, arguments that are too long.',
      todo: 'The message says which. Raise the limits of the system, or mend the rights of the file.',
    },
    {
      code: 'mcp',
      kinds: ['tool'],
      what: 'An MCP server did not do what was asked: it cannot be started or reached, answered with an error, or took too long.',
      todo: 'Look at it with `cobbler doctor`, and start it by hand to see what it says.',
      see: 'docs/mcp.md',
    },
    {
      code: 'mcp_name',
      kinds: ['invalid'],
      what: 'An MCP server has a name that cannot be part of the names of its tools.',
      todo: 'Use 1 to 32 letters, digits and "-", with single "_" between them.',
      see: 'docs/mcp.md',
    },
    {
      code: 'mcp_variable',
      kinds: ['invalid'],
      what: 'The configuration of an MCP server names a variable of the environment that is not set.',
      todo: 'Set that variable where Cobbler is started.',
      see: 'docs/mcp.md',
    },
  ],
};

/** Work that is handed to other programs. */
export const delegation: Area = {
  title: 'Delegation to other programs',
  entries: [
    {
      code: 'bypass_as_root',
      kinds: ['invalid'],
      what: 'Claude Code does not run without permissions as the superuser.',
      todo: 'Run Cobbler as another user, or say that the machine is a sandbox (`sandboxed`).',
      see: 'docs/delegation.md',
    },
    {
      code: 'no_folder',
      kinds: ['tool'],
      what: 'The folder that the program should work in does not exist, or is no folder.',
      todo: 'Name one that exists.',
    },
    {
      code: 'media',
      kinds: ['invalid'],
      what: 'A program that works instead of a model takes text only, and a picture or document was said.',
      todo: 'Leave it out, or put it into the folder and name the file.',
      see: 'docs/delegation.md',
    },
    {
      code: 'job_timeout',
      kinds: ['timeout'],
      what: 'The program did not finish its job in time and was ended, with everything it had started.',
      todo: 'Give it more time (`timeoutMs`), or a smaller job.',
      see: 'docs/delegation.md',
    },
    {
      code: 'no_end',
      kinds: ['agent'],
      what: 'The program ended before it said that its job is over; without that nothing counts as a success.',
      todo: 'Read what it said last, in the message. Mostly it is not logged in, was killed, or is a version that is not known.',
      see: 'docs/delegation.md',
    },
    {
      code: 'bad_exit',
      kinds: ['agent'],
      what: 'The program said that its job is over and then ended with an error.',
      todo: 'Read what it said, in the message, and look at what it has changed.',
    },
    {
      code: 'stale_session',
      kinds: ['invalid'],
      what: 'The conversation that the program should have gone on with is gone. It was begun anew, without what was said before.',
      todo: 'Say again what matters. It comes when the files of the program were cleared, or on another machine.',
      see: 'docs/delegation.md',
    },
    {
      code: 'no_fork',
      kinds: ['invalid'],
      what: 'A conversation with another program cannot be forked: two that go on with one would each lose what the other said.',
      todo: 'Begin a new one.',
    },
    {
      code: 'no_job',
      kinds: ['agent'],
      what: 'The program was to be heard, and no job of it is under way. This is a fault of Cobbler.',
      todo: 'Please report it, with the events of the session.',
    },
    {
      code: 'no_backend',
      kinds: ['tool'],
      what: 'No program of this name can be given work. The message lists those that there are.',
      todo: 'Use one of those names.',
      see: 'docs/delegation.md',
    },
    {
      code: 'missing_argument',
      kinds: ['tool'],
      what: 'The model called the tool `agent` without something that this action needs.',
      todo: 'Nothing: the model reads the message and calls again.',
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
      what: 'The Agent SDK of Claude Code threw. The message has its words.',
      todo: 'Try again. If it stays, try `claude` at a terminal in the same folder.',
    },
  ],
};
