import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { PayrollController } from './payroll.controller.js';
import { PayrollService } from './payroll.service.js';

@Module({ imports: [HttpModule], controllers: [PayrollController], providers: [PayrollService] })
export class PayrollModule {}
