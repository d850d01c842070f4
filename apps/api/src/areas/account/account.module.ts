import { Area } from '../../http/kit.js';
import { MeModule } from './me.module.js';
import { ReportsModule } from './reports.module.js';
import { RequestLogModule } from './request-log.module.js';

/** The key itself: its organization, its requests, and the figures of the day. */
@Area({
  imports: [MeModule, ReportsModule, RequestLogModule],
  tags: {
    ping: ['Ping', 'Check that a key works.'],
    me: ['Me', 'The organization and the scopes of a key.'],
    reports: ['Reports', 'Key figures for today and this week.'],
    'request-log': ['Request log', "What the organization's API keys requested in the last 7 days."],
  },
})
export class AccountModule {}
