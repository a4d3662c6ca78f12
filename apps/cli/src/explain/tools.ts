import type { Area, Explanation } from './explanation.ts';

/** Errors of defining tools and the rules for their calls, which the page shows with those of a run. */
export const toolDefinitions: readonly Explanation[] = [
  {
    code: 'bad_rule',
    kinds: ['invalid'],
    what: 'A permission rule does not have the form `tool` or `tool(pattern)`, or is a rule for commands that allows nothing.',
    todo: 'Correct it, for example to `run_command(npm test)`: a rule for commands names a program with all its arguments.',
    see: 'docs/permissions.md',
  },
  {
    code: 'tool_name',
    kinds: ['invalid'],
    what: 'No service accepts the name of this tool.',
    todo: 'Use 1 to 64 letters, digits, "_" or "-".',
    see: 'docs/tools.md',
  },
  {
    code: 'tool_schema',
    kinds: ['invalid'],
    what: 'The parameters of a tool are not a JSON Schema of an object, or cannot be converted to one. The message names the field.',
    todo: 'Use zod 4.2 or later, pass the converter of another schema library as `toJsonSchema`, or write the JSON Schema yourself.',
    see: 'docs/tools.md',
  },
  {
    code: 'bad_tool',
    kinds: ['invalid'],
    what: 'A tool has no `execute` function or an unknown `effect`, or it has both `waitUntil` and the effect `once`.',
    todo: 'Set `execute`. Omit `effect`, or set it to `read`, `idempotent` or `once`. With `waitUntil`, set it to `read` or `idempotent`.',
    see: 'docs/tools.md',
  },
  {
    code: 'duplicate_tool',
    kinds: ['invalid'],
    what: 'Two tools have the same name, so a call would be ambiguous.',
    todo: 'Rename or remove one of them.',
    see: 'docs/tools.md',
  },
  {
    code: 'tools_too_large',
    kinds: ['invalid'],
    what: 'The names, descriptions and parameters of all tools have more than 4 MiB, which no context window has room for.',
    todo: 'Shorten the tool that the message names, or pass fewer tools. `tools` of an MCP server selects some of its tools.',
    see: 'docs/limits.md',
  },
];

/** Errors of file and command tools. The model reads them; users see them in the transcript. */
export const tools: Area = {
  title: 'Files, commands and MCP servers',
  entries: [
    {
      code: 'workspace',
      kinds: ['invalid'],
      what: 'The working directory does not exist, is not a directory, or is not accessible.',
      todo: 'Choose an existing directory with `-C DIR`, or with `workspace` in a program.',
    },
    {
      code: 'no_sandbox',
      kinds: ['invalid'],
      what: 'Commands cannot run in a sandbox on this machine. The message says why.',
      todo: 'Run the command that the message names, usually `apt-get install bubblewrap`. If this machine is a sandbox already, such as a container, set `sandbox: "external"` or COBBLER_SANDBOX=external. To run commands with all your rights: `sandbox: "off"` or `--no-sandbox`.',
      see: 'docs/sandbox.md',
    },
    {
      code: 'bad_wait',
      kinds: ['tool'],
      what: 'The call of `wait_until` contains an invalid time, or one that is too far away or after the time limit of the run.',
      todo: 'Do nothing: the model sees the reason and can choose another time. To allow longer waits, raise `limits.ms` of the run.',
      see: 'docs/long-work.md',
    },
    {
      code: 'outside',
      kinds: ['tool'],
      what: 'A path leads out of the workspace, directly or through a link. Tools never leave it.',
      todo: 'Use a path inside the workspace, or start with `-C DIR` in a directory that contains both the workspace and that path.',
      see: 'docs/tools.md',
    },
    {
      code: 'sealed',
      kinds: ['tool'],
      what: 'The path contains keys (such as `~/.ssh`) or Cobbler’s own files. File tools never open it.',
      todo: 'Continue without this path, or use a command, which needs approval.',
      see: 'docs/gate.md',
    },
    {
      code: 'not_found',
      kinds: ['tool'],
      what: 'The file does not exist. The message suggests similar names.',
      todo: 'Correct the path. It must be relative to the workspace.',
    },
    {
      code: 'is_directory',
      kinds: ['tool'],
      what: 'The path is a directory, but a file is required.',
      todo: 'Pass the path of a file in that directory.',
    },
    {
      code: 'not_directory',
      kinds: ['tool'],
      what: 'A part of the path is a file, not a directory.',
      todo: 'Correct the path.',
    },
    {
      code: 'denied',
      kinds: ['tool'],
      what: 'The system denied access because of file permissions or a read-only file system.',
      todo: 'Change the permissions of the file or directory, or work on a copy.',
    },
    {
      code: 'changed',
      kinds: ['tool'],
      what: 'Another program changed the file between reading and writing. Nothing was overwritten.',
      todo: 'Read the file again, then make the change.',
    },
    {
      code: 'special',
      kinds: ['tool'],
      what: 'The path is a device, a socket or a pipe, not a regular file.',
      todo: 'To access it, use a command instead.',
    },
    {
      code: 'io',
      kinds: ['tool'],
      what: 'The file system failed. The usual cause is a full or faulty disk.',
      todo: "Free disk space, or check the disk. The message contains the system's error code.",
    },
    {
      code: 'unsuited',
      kinds: ['tool'],
      what: 'The tool cannot handle the file: it is binary, is not encoded in UTF-8, is too large, or ends before the requested line.',
      todo: 'Read the reason in the message. Read a part of the file, or use a command.',
    },
    {
      code: 'no_match',
      kinds: ['tool'],
      what: 'The file does not contain the text to replace, or contains it more than once. Nothing was changed.',
      todo: 'Read the file again and pass the exact text, with enough context to be unique.',
    },
    {
      code: 'pattern',
      kinds: ['tool'],
      what: 'The search pattern is not a valid regular expression.',
      todo: 'Correct it, or set `literal` to search for plain text.',
    },
    {
      code: 'tool_timeout',
      kinds: ['timeout'],
      what: 'A tool exceeded its time limit and was stopped.',
      todo: 'Raise `timeoutMs`, or split the work. If a command starts a server, run it in the background.',
      see: 'docs/tools.md',
    },
    {
      code: 'no_program',
      kinds: ['tool'],
      what: 'The program was not found: it is not installed, or not in PATH.',
      todo: 'Install it, or extend PATH. `cobbler doctor` shows the programs it finds.',
    },
    {
      code: 'unstartable',
      kinds: ['tool'],
      what: 'A program could not be started. Possible causes: missing permissions, too many processes or open files, or arguments that are too long.',
      todo: 'Read the reason in the message. Raise the system limits, or fix the file permissions.',
    },
    {
      code: 'mcp',
      kinds: ['tool'],
      what: 'A request to an MCP server failed: the server could not be started or reached, returned an error, or took too long.',
      todo: 'Check it with `cobbler doctor`, and start it by hand to see its output.',
      see: 'docs/mcp.md',
    },
    {
      code: 'mcp_variable',
      kinds: ['invalid'],
      what: 'The configuration of an MCP server refers to an environment variable that is not set.',
      todo: 'Set that variable where Cobbler is started.',
      see: 'docs/mcp.md',
    },
  ],
};
