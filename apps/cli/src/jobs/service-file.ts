/** What a service runs. */
export interface ServicePlan {
  /** `jobs`, `serve` or `assistant`. */
  readonly name: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Returns a unit of systemd. The one for jobs ends at once; what it started belongs to it until it is stopped. */
export function systemdUnit({ name, argv, env }: ServicePlan): string {
  const isJobs = name === 'jobs';
  const variables = Object.entries(env).map(([key, value]) => `Environment=${unitWord(`${key}=${value}`)}`);
  const kind = isJobs
    ? ['Type=oneshot', 'RemainAfterExit=yes']
    : // The address of a server contains its token, and others may read the journal.
      ['Restart=on-failure', 'RestartSec=5', 'StandardOutput=null'];
  const lines = [
    ...['[Unit]', `Description=Cobbler: ${isJobs ? 'continues interrupted jobs' : name}`, ''],
    ...['[Service]', ...kind, ...variables, `ExecStart=${argv.map(execWord).join(' ')}`, ''],
    ...['[Install]', 'WantedBy=default.target', ''],
  ];
  return lines.join('\n');
}

/** Quotes a word, in which `%` and backslashes have a meaning too. */
function unitWord(word: string): string {
  return `"${word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('\n', '\\n')}"`;
}

/** In a command, `$` has a meaning too. */
function execWord(word: string): string {
  return unitWord(word).replaceAll('$', '$$$$');
}

/** Returns the label of a service of launchd. */
export function labelOf(name: string): string {
  return `dev.cobbler.${name}`;
}

/** Returns a property list of launchd. */
export function launchdList({ name, argv, env }: ServicePlan): string {
  const words = argv.map((word) => `    <string>${xml(word)}</string>`);
  const variables = Object.entries(env).map(
    ([key, value]) => `    <key>${xml(key)}</key><string>${xml(value)}</string>`,
  );
  // The jobs outlive the command that starts them.
  const kind = name === 'jobs' ? 'AbandonProcessGroup' : 'KeepAlive';
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0"><dict>',
    `  <key>Label</key><string>${labelOf(name)}</string>`,
    ...['  <key>ProgramArguments</key><array>', ...words, '  </array>'],
    ...['  <key>EnvironmentVariables</key><dict>', ...variables, '  </dict>'],
    `  <key>RunAtLoad</key><true/><key>${kind}</key><true/>`,
    '</dict></plist>',
    '',
  ].join('\n');
}

function xml(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt' };
  return text.replace(/[&<>]/g, (character) => `&${names[character]};`);
}
