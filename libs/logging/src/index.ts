export { type AccessLine, Log } from './log.js';
export { LoggingModule } from './logging.module.js';
