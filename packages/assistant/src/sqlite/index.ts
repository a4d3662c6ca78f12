export { type SqliteMemoryOptions, sqliteMemory } from './sqlite-memory.ts';
export { type SqliteSql, type SqliteSqlOptions, sqliteSql } from './sqlite-sql.ts';
