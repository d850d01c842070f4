import { Module } from '@nestjs/common';
import { BillingModule } from '@app/billing';
import { RowsModule } from '@app/rows';
import { SchedulingModule } from '@app/scheduling';
import { NAMED_ROWS_CONTROLLERS } from './named-rows.js';
import { PricesController } from './prices.controller.js';
import { PricesQueries } from './prices.queries.js';

@Module({
  imports: [BillingModule, RowsModule, SchedulingModule],
  controllers: [PricesController, ...NAMED_ROWS_CONTROLLERS],
  providers: [PricesQueries],
})
export class PricesModule {}
