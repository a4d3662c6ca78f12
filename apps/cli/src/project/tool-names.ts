/** Our names of the tools that the files of other programs name. */
export const ourTools: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ Read: 'read_file', Write: 'write_file', Edit: 'edit_file', MultiEdit: 'edit_file' },
    ...{ Glob: 'list_files', LS: 'list_files', Grep: 'search_files', Bash: 'run_command' },
    ...{ WebFetch: 'web_fetch', Skill: 'skill', Task: 'agent', Agent: 'agent' },
  }),
);
