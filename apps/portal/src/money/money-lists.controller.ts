import { Controller, Get, Query } from '@nestjs/common';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { type Page, page } from '../web/pages.js';
import { positionText, queryOf as query, readPosition } from '../web/paging.js';
import { isName, queryOf, readFilter, readSearch, STATES } from './invoices.filter.js';
import { MoneyLists, MOST_COUNTED } from './money-lists.js';
import { moneyWords } from './money-words.js';

/** Pages beyond this one have nothing: so far is counted. */
const LAST_PAGE = 40;

/** What families owe and have paid: invoices, families and payments. */
@Controller('o/:slug/money')
@ForManagers()
export class MoneyListsController {
  constructor(private readonly lists: MoneyLists) {}

  @Get()
  @InNavigation('Money', 'Invoices')
  async invoices(@Managing() organization: Managed, @Query() asked: Record<string, unknown>): Promise<Page> {
    const filter = readFilter(asked);
    const { invoices, totals, terms, next, more } = await this.lists.invoices(organization, filter);
    return page('money/invoices', {
      ...{ invoices, totals, filter, states: STATES, most: MOST_COUNTED },
      ...moneyWords(terms.currency),
      isFirst: filter.after === null && filter.from === null,
      first: queryOf({ ...filter, from: null }),
      next: next && queryOf(filter, next),
      more: more && queryOf({ ...filter, from: more }),
    });
  }

  @Get('families')
  @InNavigation('Money', 'Balances', 2)
  async families(@Managing() organization: Managed, @Query() asked: Record<string, unknown>): Promise<Page> {
    const [search, from] = [readSearch(asked.search), readPosition(asked.from)];
    const at = Math.min(Math.max(Math.trunc(Number(asked.page)) || 1, 1), LAST_PAGE);
    const found = isName(search) ? await this.lists.familiesNamed(organization, search, from) : null;
    const { rows, more, terms } = found ?? (await this.lists.owing(organization, at - 1));
    const next = found
      ? found.next && query({ search, from: positionText(found.next) })
      : more && query({ page: String(at + 1) });
    return page('money/families', {
      ...{ families: rows, search: found ? search : '', next, most: MOST_COUNTED },
      isFirst: found ? from === null : at === 1,
      ...moneyWords(terms.currency),
    });
  }

  @Get('payments')
  @InNavigation('Money', 'Payments', 3)
  async payments(@Managing() organization: Managed, @Query() asked: Record<string, unknown>): Promise<Page> {
    const [current, after] = [asked.received === 'this-month', readPosition(asked.after)];
    const { rows, next, terms } = await this.lists.payments(organization, current, after);
    const received = current ? 'this-month' : null;
    return page('money/payments', {
      ...{ payments: rows, current, isFirst: after === null, first: query({ received }) },
      next: next && query({ received, after: positionText(next) }),
      ...moneyWords(terms.currency),
    });
  }
}
