"""Writes the samples gpu_metrics_v*.txt into the directory that is given.

Each sample is one version of the kernel's gpu_metrics structures, laid out by ctypes as a C compiler
would, with a different value in every member: an account of the layouts that shares nothing with the
one in tablelayout.go, against which TestLayouts compares it.

    python3 testdata/gpu_metrics.py testdata
"""
import ctypes as C
import sys

u8,u16,u32,u64=C.c_uint8,C.c_uint16,C.c_uint32,C.c_uint64
H=[('structure_size',u16),('format_revision',u8),('content_revision',u8)]
def f(t,names): return [(n,t) if '[' not in n else (n[:n.index('[')],t*int(n[n.index('[')+1:-1])) for n in names.split()]
v1t='temperature_edge temperature_hotspot temperature_mem temperature_vrgfx temperature_vrsoc temperature_vrmem average_gfx_activity average_umc_activity average_mm_activity average_socket_power'
clk='average_gfxclk_frequency average_socclk_frequency average_uclk_frequency average_vclk0_frequency average_dclk0_frequency average_vclk1_frequency average_dclk1_frequency current_gfxclk current_socclk current_uclk current_vclk0 current_dclk0 current_vclk1 current_dclk1'
V={}
V['1_0']=f(u64,'system_clock_counter')+f(u16,v1t)+f(u32,'energy_accumulator')+f(u16,clk)+f(u32,'throttle_status')+f(u16,'current_fan_speed')+f(u8,'pcie_link_width pcie_link_speed')
V['1_1']=f(u16,v1t)+f(u64,'energy_accumulator system_clock_counter')+f(u16,clk)+f(u32,'throttle_status')+f(u16,'current_fan_speed pcie_link_width pcie_link_speed padding')+f(u32,'gfx_activity_acc mem_activity_acc')+f(u16,'temperature_hbm[4]')
V['1_2']=V['1_1']+f(u64,'firmware_timestamp')
V['1_3']=V['1_2']+f(u16,'voltage_soc voltage_gfx voltage_mem padding1')+f(u64,'indep_throttle_status')
h4='temperature_hotspot temperature_mem temperature_vrsoc curr_socket_power average_gfx_activity average_umc_activity'
pc=f(u32,'gfxclk_lock_status')+f(u16,'pcie_link_width pcie_link_speed xgmi_link_width xgmi_link_speed')+f(u32,'gfx_activity_acc mem_activity_acc')+f(u64,'pcie_bandwidth_acc pcie_bandwidth_inst pcie_l0_to_recov_count_acc pcie_replay_count_acc pcie_replay_rover_count_acc')
nak=f(u32,'pcie_nak_sent_count_acc pcie_nak_rcvd_count_acc')
xg=f(u64,'xgmi_read_data_acc[8] xgmi_write_data_acc[8]')
tail=f(u64,'firmware_timestamp')+f(u16,'current_gfxclk[8] current_socclk[4] current_vclk0[4] current_dclk0[4] current_uclk')
res=f(u32,'accumulation_counter prochot_residency_acc ppt_residency_acc socket_thm_residency_acc vr_thm_residency_acc hbm_thm_residency_acc')
V['1_4']=f(u16,h4+' vcn_activity[4]')+f(u64,'energy_accumulator system_clock_counter')+f(u32,'throttle_status')+pc+xg+tail+f(u16,'padding')
V['1_5']=f(u16,h4+' vcn_activity[4] jpeg_activity[32]')+f(u64,'energy_accumulator system_clock_counter')+f(u32,'throttle_status')+pc+nak+xg+tail+f(u16,'padding')
V['1_6_first']=f(u16,h4+' vcn_activity[4] jpeg_activity[32]')+f(u64,'energy_accumulator system_clock_counter')+res+f(u32,'throttle_status')+pc+nak+xg+tail+f(u16,'padding')
def S(name,fields):
    return type(name,(C.Structure,),{'_fields_':fields})
X0=S('x0',f(u32,'gfx_busy_inst[8]')+f(u16,'jpeg_busy[32] vcn_busy[4]')+f(u64,'gfx_busy_acc[8]'))
X1=S('x1',f(u32,'gfx_busy_inst[8]')+f(u16,'jpeg_busy[32] vcn_busy[4]')+f(u64,'gfx_busy_acc[8] gfx_below_host_limit_acc[8]'))
X2=S('x2',f(u32,'gfx_busy_inst[8]')+f(u16,'jpeg_busy[40] vcn_busy[4]')+f(u64,'gfx_busy_acc[8] gfx_below_host_limit_ppt_acc[8] gfx_below_host_limit_thm_acc[8] gfx_low_utilization_acc[8] gfx_below_host_limit_total_acc[8]'))
V['1_6']=f(u16,h4)+f(u64,'energy_accumulator system_clock_counter')+res+pc+nak+xg+tail+f(u16,'num_partition')+[('xcp_stats',X0*8)]+f(u32,'pcie_lc_perf_other_end_recovery')
def v7(X): return f(u16,h4)+f(u64,'mem_max_bandwidth energy_accumulator system_clock_counter')+res+pc+nak+xg+f(u16,'xgmi_link_status[8] padding')+tail+f(u16,'num_partition')+[('xcp_stats',X*8)]+f(u32,'pcie_lc_perf_other_end_recovery')
V['1_7']=v7(X1); V['1_8']=v7(X2)
a1='temperature_gfx temperature_soc temperature_core[8] temperature_l3[2] average_gfx_activity average_mm_activity'
a2='average_socket_power average_cpu_power average_soc_power average_gfx_power average_core_power[8] average_gfxclk_frequency average_socclk_frequency average_uclk_frequency average_fclk_frequency average_vclk_frequency average_dclk_frequency current_gfxclk current_socclk current_uclk current_fclk current_vclk current_dclk current_coreclk[8] current_l3clk[2]'
V['2_0']=f(u64,'system_clock_counter')+f(u16,a1)+f(u16,a2)+f(u32,'throttle_status')+f(u16,'fan_pwm padding')
V['2_1']=f(u16,a1)+f(u64,'system_clock_counter')+f(u16,a2)+f(u32,'throttle_status')+f(u16,'fan_pwm padding[3]')
V['2_2']=V['2_1']+f(u64,'indep_throttle_status')
V['2_3']=V['2_2']+f(u16,'average_temperature_gfx average_temperature_soc average_temperature_core[8] average_temperature_l3[2]')
V['2_4']=V['2_3']+f(u16,'average_cpu_voltage average_soc_voltage average_gfx_voltage average_cpu_current average_soc_current average_gfx_current')
V['3_0']=f(u16,'temperature_gfx temperature_soc temperature_core[16] temperature_skin average_gfx_activity average_vcn_activity average_ipu_activity[8] average_core_c0_activity[16] average_dram_reads average_dram_writes average_ipu_reads average_ipu_writes')+f(u64,'system_clock_counter')+f(u32,'average_socket_power')+f(u16,'average_ipu_power')+f(u32,'average_apu_power average_gfx_power average_dgpu_power average_all_core_power')+f(u16,'average_core_power[16] average_sys_power stapm_power_limit current_stapm_power_limit average_gfxclk_frequency average_socclk_frequency average_vpeclk_frequency average_ipuclk_frequency average_fclk_frequency average_vclk_frequency average_uclk_frequency average_mpipu_frequency current_coreclk[16] current_core_maxfreq current_gfx_maxfreq')+f(u32,'throttle_residency_prochot throttle_residency_spl throttle_residency_fppt throttle_residency_sppt throttle_residency_thm_core throttle_residency_thm_gfx throttle_residency_thm_soc time_filter_alphavalue')
out=sys.argv[1]
for ver,fields in V.items():
    T=S('t'+ver,H+fields)
    o=T(); size=C.sizeof(T); o.structure_size=size
    p=ver.split('_'); o.format_revision=int(p[0]); o.content_revision=int(p[1])
    n=[0]; lines=[]
    def fill(obj,flds,prefix):
        for name,t in flds:
            if name in('structure_size','format_revision','content_revision'): continue
            def val(t):
                n[0]+=1
                k=n[0]*37+11
                if t is u8: return k%250
                if t is u16: return k%65000
                if t is u32: return k*65537%4000000000
                return k*0x100010001+k
            if hasattr(t,'_length_'):
                if hasattr(t._type_,'_fields_'):
                    arr=getattr(obj,name)
                    for i in range(t._length_): fill(arr[i],t._type_._fields_,f'{prefix}{name}.{i}.')
                else:
                    arr=getattr(obj,name)
                    for i in range(t._length_):
                        arr[i]=val(t._type_); lines.append(f'{prefix}{name} {i} {arr[i]}')
            else:
                v=val(t); setattr(obj,name,v); lines.append(f'{prefix}{name} 0 {v}')
    fill(o,T._fields_,'')
    hexs=bytes(o).hex()
    with open(f'{out}/gpu_metrics_v{ver}.txt','w') as fo:
        fo.write('# gpu_metrics v%s.%s: its bytes, then the values in them: member, index, value\n'%(p[0],p[1]))
        for i in range(0,len(hexs),96): fo.write(hexs[i:i+96]+'\n')
        fo.write('\n'+'\n'.join(lines)+'\n')
    print(ver,size,len(lines))
