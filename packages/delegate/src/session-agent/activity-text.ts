/** Returns one line about the next action of a tool, for the user. */
export function activityText(toolName: string, input: Readonly<Record<string, unknown>>): string {
  const keys = ['description', 'command', 'file_path', 'path', 'pattern', 'query', 'url', 'prompt'];
  const found = keys
    .map((key) => input[key])
    .find((value) => typeof value === 'string' && value.trim() !== '');
  const line = typeof found === 'string' ? (found.trim().split('\n')[0] ?? '') : '';
  return line === '' ? toolName : `${toolName}: ${line.slice(0, 200)}`;
}
