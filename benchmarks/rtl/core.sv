// An Ibex with three stages and a multiplier of one cycle; machine.cpp is its memory.
module core
  import ibex_pkg::*;
(
    input  logic        clk,
    input  logic        reset_n,
    output logic        code_request,
    input  logic        code_grant,
    input  logic        code_valid,
    output logic [31:0] code_address,
    input  logic [31:0] code_word,
    output logic        data_request,
    input  logic        data_grant,
    input  logic        data_valid,
    output logic        data_writes,
    output logic [ 3:0] data_bytes,
    output logic [31:0] data_address,
    output logic [31:0] data_written,
    input  logic [31:0] data_word,
    // What the core counts in a cycle: an instruction that is complete, waiting for data, waiting for code.
    output logic [ 2:0] events
);
  assign events = {
    ibex.u_ibex_core.perf_iside_wait, ibex.u_ibex_core.perf_dside_wait, ibex.u_ibex_core.perf_instr_ret_wb
  };

  ibex_top #(
      .RV32M(RV32MSingleCycle),
      .WritebackStage(1'b1),
      .BranchTargetALU(1'b1)
  ) ibex (
      .clk_i(clk),
      .rst_ni(reset_n),
      .instr_req_o(code_request),
      .instr_gnt_i(code_grant),
      .instr_rvalid_i(code_valid),
      .instr_addr_o(code_address),
      .instr_rdata_i(code_word),
      .data_req_o(data_request),
      .data_gnt_i(data_grant),
      .data_rvalid_i(data_valid),
      .data_we_o(data_writes),
      .data_be_o(data_bytes),
      .data_addr_o(data_address),
      .data_wdata_o(data_written),
      .data_rdata_i(data_word),
      .test_en_i('0),
      .ram_cfg_i('0),
      .hart_id_i('0),
      .boot_addr_i('0),
      .instr_rdata_intg_i('0),
      .instr_err_i('0),
      .data_wdata_intg_o(),
      .data_rdata_intg_i('0),
      .data_err_i('0),
      .irq_software_i('0),
      .irq_timer_i('0),
      .irq_external_i('0),
      .irq_fast_i('0),
      .irq_nm_i('0),
      .scramble_key_valid_i('0),
      .scramble_key_i('0),
      .scramble_nonce_i('0),
      .scramble_req_o(),
      .debug_req_i('0),
      .crash_dump_o(),
      .double_fault_seen_o(),
      .fetch_enable_i(IbexMuBiOn),
      .alert_minor_o(),
      .alert_major_internal_o(),
      .alert_major_bus_o(),
      .core_sleep_o(),
      .scan_rst_ni('1)
  );
endmodule
