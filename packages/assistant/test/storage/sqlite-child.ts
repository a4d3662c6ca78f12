// A child process that adds messages to a database file: `sqlite-child.ts FILE COUNT`.

import { sqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import { sqlMessages } from '../../src/storage/message-store.ts';

const [file = '', count = '0'] = process.argv.slice(2);
const sql = sqliteSql({ file });
const messages = sqlMessages(sql);
for (let index = 0; index < Number(count); index += 1) {
  const id = `child-${index}`;
  await messages.add({
    id,
    chatId: 'chat',
    role: 'user',
    content: id,
    createdAt: '2026-01-01T00:00:00.000Z',
  });
}
sql.close();
